/* SPDX-License-Identifier: GPL-2.0 */
/* The words by which the doctors of two hosts keep step. See step.c. */
#ifndef STEP_H
#define STEP_H

#include <stdbool.h>

#define STEP_LEN	16	/* bytes of a word, at most */

/* The other doctor, who is read from @in and written to at @out */
struct step {
	int in, out;
	char word[STEP_LEN];	/* what has come of it */
	int len;
	bool lost;		/* nothing more will come */
};

void step_say(struct step *step, const char *word);
bool step_heard(struct step *step, const char *word);

#endif /* STEP_H */
