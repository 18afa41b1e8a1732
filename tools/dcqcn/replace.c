// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a file as a whole, or not at all: an error, such as a full disk, must neither look like
 * success nor cost what the file held before.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "replace.h"

static bool write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n < 0)
			return false;
		data += n;
		len -= n;
	}
	return true;
}

/* The mode of a new file */
static mode_t default_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Terminals and pipes cannot be replaced */
static void write_in_place(const char *file, const void *data, size_t len)
{
	int fd = open(file, O_WRONLY);

	if (fd < 0 || !write_all(fd, data, len) || close(fd))
		fail_errno(file);
}

#define LINKS_MAX	40	/* as the kernel has it */

/* What the name stands for, also if that does not exist yet */
static void find_target(const char *file, char target[PATH_MAX])
{
	char link[PATH_MAX];
	size_t dir;
	ssize_t n;

	if (realpath(file, target))
		return;
	snprintf(target, PATH_MAX, "%s", file);
	for (int i = 0; (n = readlink(target, link, sizeof(link) - 1)) > 0; i++) {
		errno = ELOOP;
		if (i == LINKS_MAX)
			fail_errno(file);
		link[n] = '\0';
		/* beside the link, unless it begins at the root */
		dir = *link != '/' && strrchr(target, '/') ? strrchr(target, '/') + 1 - target : 0;
		if (snprintf(target + dir, PATH_MAX - dir, "%s", link) >= (int)(PATH_MAX - dir))
			fail("%.20s...: the name is too long", file);
	}
}

/* An error ends the program. Symbolic links stay. */
void replace_file(const char *file, const void *data, size_t len)
{
	char target[PATH_MAX], made[PATH_MAX];
	struct stat st;
	bool is_new = stat(file, &st);
	int fd, error;

	if (!is_new && !S_ISREG(st.st_mode)) {
		write_in_place(file, data, len);
		return;
	}
	find_target(file, target);
	if (snprintf(made, sizeof(made), "%s.XXXXXX", target) >= (int)sizeof(made))
		fail("%.20s...: the name is too long", file);
	fd = mkstemp(made);
	if (fd < 0)
		fail_errno(file);
	/* only root can give a file to its owner */
	if ((!is_new && fchown(fd, st.st_uid, st.st_gid) && errno != EPERM) ||
	    fchmod(fd, is_new ? default_mode() : st.st_mode & 07777) ||
	    !write_all(fd, data, len) || fsync(fd) || close(fd) || rename(made, target)) {
		error = errno;
		unlink(made);
		errno = error;
		fail_errno(file);
	}
}
