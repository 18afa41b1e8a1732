// SPDX-License-Identifier: GPL-2.0
/*
 * Names of devices and words of files may be any bytes. A terminal would obey control
 * characters in them.
 */
#include <ctype.h>
#include <string.h>

#include "clean.h"

/* Bytes of the character that @s begins with; 0 if it is a control character or not UTF-8 */
size_t clean_len(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t len = *s < 0x80 ? 1 : *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;

	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* too long, a surrogate, or above U+10FFFF */
	if ((*s == 0xe0 && s[1] < 0xa0) || (*s == 0xed && s[1] > 0x9f) ||
	    (*s == 0xf0 && s[1] < 0x90) || (*s == 0xf4 && s[1] > 0x8f))
		return 0;
	if (*s < ' ' || *s == 0x7f || (*s == 0xc2 && s[1] < 0xa0))
		return 0;
	return len;
}

/* Replace all else by question marks */
char *clean(char *text)
{
	size_t len;

	for (char *s = text; *s; s += len) {
		len = clean_len(s);
		if (!len) {
			*s = '?';
			len = 1;
		}
	}
	return text;
}

/* Whether a shell takes @name as it is, as a word that is not an option */
bool clean_word(const char *name)
{
	if (!*name || *name == '-')
		return false;
	for (const char *s = name; *s; s++) {
		unsigned char c = *s;

		if (c < 0x80 && !isalnum(c) && !strchr("_-.:,+@%^", c))
			return false;
	}
	return true;
}

/* Cut off the end of a line, and a comment. A name may have a # in it, but not begin with one. */
void clean_line(char *line)
{
	char *s = line;

	line[strcspn(line, "\n")] = '\0';
	while ((s = strchr(s, '#')) && s > line && !strchr(" \t", s[-1]))
		s++;
	if (s)
		*s = '\0';
}
