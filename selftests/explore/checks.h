/* SPDX-License-Identifier: GPL-2.0 */
/* What must hold, whatever happens. See checks.c. */
#ifndef EXPLORE_CHECKS_H
#define EXPLORE_CHECKS_H

#include "rxe.h"

#define demand(cond, ...) do {						\
	if (!(cond))							\
		failed(__FILE__, __LINE__, #cond, __VA_ARGS__);		\
} while (0)

void failed(const char *file, int line, const char *cond, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));
/* events.c: say what has happened up to here */
void print_events(void);

void checks_begin(void);
void checks_end(void);
/* A packet leaves rxe; it leaves the module; the module drops it */
void check_output(struct tx *tx);
void check_leaves(struct tx *tx);
void check_dropped(struct tx *tx);
/* A marked packet arrives; a CNP leaves */
void check_marked(struct port *port, const u8 *packet, u32 len);
void check_cnp(struct port *port, const u8 *packet, u32 len);
/* An event is over, with all that it caused at this moment; time may pass until the next */
void check_all(void);
/* Some setting has changed that @port's flows follow from now on */
void check_settings(struct port *port);
/* Its link goes down */
void check_forged(struct rxe_qp *qp);
void check_down(struct port *port);
/* A user looks at everything */
void check_views(void);
/* The janitor has come round, after the last packet; long after it; and once more after that */
enum look { LOOK_SOON, LOOK_BEFORE, LOOK_LATE };
void check_entries(enum look look);
void print_coverage(void);

#endif /* EXPLORE_CHECKS_H */
