// SPDX-License-Identifier: GPL-2.0
/* Programs whose output is read. No shell is between, because a device may have any name. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

/* Start argv[0] without input and error messages. Return its output, or NULL. */
FILE *child_open(char *const argv[], pid_t *child)
{
	int fd[2], null;

	if (pipe(fd))
		return NULL;
	*child = fork();
	if (!*child) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDIN_FILENO);
		dup2(null, STDERR_FILENO);
		dup2(fd[1], STDOUT_FILENO);
		close(fd[0]);
		close(fd[1]);
		execvp(argv[0], argv);
		_exit(EXIT_FAILURE);
	}
	close(fd[1]);
	if (*child < 0) {
		close(fd[0]);
		return NULL;
	}
	return fdopen(fd[0], "r");
}

/* Return true if the program has succeeded */
bool child_close(FILE *in, pid_t child)
{
	int status;

	fclose(in);
	return waitpid(child, &status, 0) == child && !status;
}
