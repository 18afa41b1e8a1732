/* SPDX-License-Identifier: GPL-2.0 */
/* The doctor's findings. See finding.c. */
#ifndef FINDING_H
#define FINDING_H

void finding_seen(const char *id, const char *host, const char *dev,
		  const char *format, ...)
	__attribute__((format(printf, 4, 5)));
void finding_why(const char *format, ...) __attribute__((format(printf, 1, 2)));
void finding_fix(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void finding_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
int finding_close(void);

#endif /* FINDING_H */
