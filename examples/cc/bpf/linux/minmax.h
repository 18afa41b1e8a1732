/* SPDX-License-Identifier: GPL-2.0 */
#ifndef BPF_LINUX_MINMAX_H
#define BPF_LINUX_MINMAX_H

#define min(a, b) \
	({ __auto_type min_a = (a); __auto_type min_b = (b); min_a < min_b ? min_a : min_b; })
#define max(a, b) \
	({ __auto_type max_a = (a); __auto_type max_b = (b); max_a > max_b ? max_a : max_b; })
#define clamp(value, least, most)	min(max(value, least), most)
#define min_t(type, a, b)	min((type)(a), (type)(b))
#define max_t(type, a, b)	max((type)(a), (type)(b))
#define clamp_t(type, value, least, most)	clamp((type)(value), (type)(least), (type)(most))

#endif /* BPF_LINUX_MINMAX_H */
