// SPDX-License-Identifier: GPL-2.0
/*
 * The words by which the doctors of two hosts keep step, one on each line. What one host sends, the
 * other must be watching, however long it took to reach it: so each waits for the other's word
 * before its interval begins, and goes on watching until the other's has ended.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "step.h"

void step_say(struct step *step, const char *word)
{
	char line[STEP_LEN + 1];
	size_t len = strlen(word);

	memcpy(line, word, len);
	line[len++] = '\n';
	if (write(step->out, line, len) < 0)
		return;		/* the other's words tell whether it has ended */
}

/* Read what has come of the other's word, and nothing after it. Return true if this is it. */
bool step_heard(struct step *step, const char *word)
{
	struct pollfd fd = { .fd = step->in, .events = POLLIN };

	while (!step->lost && poll(&fd, 1, 0) > 0) {
		char c;

		if (read(step->in, &c, 1) != 1 || step->len == STEP_LEN) {
			step->lost = true;
		} else if (c != '\n') {
			step->word[step->len++] = c;
		} else {
			bool heard = step->len == (int)strlen(word) &&
				     !memcmp(step->word, word, step->len);

			step->len = 0;
			step->lost = !heard;
			return heard;
		}
	}
	return false;
}
