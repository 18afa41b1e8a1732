/* SPDX-License-Identifier: GPL-2.0 */
/* What the doctors of two hosts say to each other. See exchange.c. */
#ifndef EXCHANGE_H
#define EXCHANGE_H

#include "facts.h"

#define EXCHANGE_PEERS	8	/* addresses, at most */

/* Addresses of a host's rxe devices */
struct exchange_addresses {
	struct in6_addr addr[EXCHANGE_PEERS];
	int num;
};

/* At the host that asks: the socket at which the peer answers */
int exchange_ssh(const char *peer, uint64_t nsec, const struct facts *here,
		 struct exchange_addresses *theirs);
int exchange_ask(const char *peer, uint64_t nsec, struct exchange_addresses *theirs);

/* At the host that answers */
void exchange_answer(int in, int out, struct facts *facts, uint64_t nsec,
		     const struct exchange_addresses *theirs);
void exchange_add(struct exchange_addresses *to, const char *text);
_Noreturn void exchange_serve(const char *dev);

#endif /* EXCHANGE_H */
