// SPDX-License-Identifier: GPL-2.0
/*
 * dcqcn cc load, unload: algorithms in eBPF.
 *
 * A file that clang has made has the programs of an algorithm, and a struct dcqcn_cc_ops. libbpf
 * loads and registers these. What keeps the algorithm is the file in DIR, a pinned link of BPF. As
 * nothing else here needs libbpf, it is opened when it is needed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "arg.h"
#include "commands.h"
#include "fail.h"

#define BPFFS		"/sys/fs/bpf"
#define DIR		BPFFS "/dcqcn"
#define LIBBPF		"libbpf.so.1"
#define STRUCT_OPS	26	/* BPF_MAP_TYPE_STRUCT_OPS */

struct bpf_object;
struct bpf_map;
struct bpf_link;

static struct {
	void (*set_print)(int (*print)(int level, const char *format, va_list args));
	struct bpf_object *(*open)(const char *path, const void *options);
	int (*load)(struct bpf_object *object);
	void (*close)(struct bpf_object *object);
	struct bpf_map *(*next_map)(const struct bpf_object *object, const struct bpf_map *map);
	int (*type)(const struct bpf_map *map);
	struct bpf_link *(*attach)(const struct bpf_map *map);
	int (*pin)(struct bpf_link *link, const char *path);
	struct bpf_link *(*open_link)(const char *path);
	int (*detach)(struct bpf_link *link);
} bpf;

static void need(const char *name, void *function)
{
	static void *library;
	void *found;

	if (!library)
		library = dlopen(LIBBPF, RTLD_NOW);
	if (!library)
		fail(LIBBPF ": not found (install libbpf1)");
	found = dlsym(library, name);
	if (!found)
		fail(LIBBPF ": has no %s()", name);
	memcpy(function, &found, sizeof(found));
}

static void need_bpf(void)
{
	need("libbpf_set_print", &bpf.set_print);
	need("bpf_object__open_file", &bpf.open);
	need("bpf_object__load", &bpf.load);
	need("bpf_object__close", &bpf.close);
	need("bpf_object__next_map", &bpf.next_map);
	need("bpf_map__type", &bpf.type);
	need("bpf_map__attach_struct_ops", &bpf.attach);
	need("bpf_link__pin", &bpf.pin);
	need("bpf_link__open", &bpf.open_link);
	need("bpf_link__detach", &bpf.detach);
}

/* Warnings of libbpf are of level 0; the verifier's log is one of them. An error follows. */
static int print(int level, const char *format, va_list args)
{
	return level ? 0 : vfprintf(stderr, format, args);
}

static bool has_line(const char *path, const char *word)
{
	FILE *f = fopen(path, "r");
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	if (!f)
		return false;
	while (!found && getline(&line, &size, f) != -1)
		found = strstr(line, word);
	free(line);
	fclose(f);
	return found;
}

/* Say why there can be no algorithms in eBPF, if there cannot */
static void check_kernel(void)
{
	if (access("/sys/module/rdma_dcqcn", F_OK))
		fail("rdma_dcqcn: not loaded (modprobe rdma_dcqcn)");
	if (!has_line("/proc/kallsyms", " __register_bpf_struct_ops"))
		fail("cc load: this kernel does not support algorithms in eBPF: it needs Linux 6.12 or later, with BTF");
	if (access("/sys/kernel/btf/rdma_dcqcn", F_OK))
		fail("cc load: rdma_dcqcn has no BTF: build it where pahole is installed");
}

/* The name of an algorithm, from that of its file: aimd of out/aimd.bpf.o */
static const char *pin_of(const char *file)
{
	const char *slash = strrchr(file, '/');
	static char path[256];

	file = slash ? slash + 1 : file;
	if (snprintf(path, sizeof(path), DIR "/%.*s", (int)strcspn(file, "."), file) >=
	    (int)sizeof(path) || !strcspn(file, "."))
		fail("\"%s\" is not a file name", file);
	return path;
}

static struct bpf_link *load(struct bpf_object *object, const char *file)
{
	struct bpf_map *map = NULL;
	struct bpf_link *link;

	if (bpf.load(object))
		fail("%s: the kernel refuses it: %s", file, strerror(errno));
	do {
		map = bpf.next_map(object, map);
	} while (map && bpf.type(map) != STRUCT_OPS);
	if (!map)
		fail("%s: has no algorithm in a section .struct_ops.link", file);
	link = bpf.attach(map);
	if (!link)
		fail("%s: %s", file, errno == EEXIST ? "an algorithm of that name already exists" :
		     strerror(errno));
	return link;
}

int cmd_cc_load(int argc, char **argv)
{
	struct bpf_object *object;
	const char *pin;

	if (argc < 2)
		arg_missing("the file");
	arg_none(argv + 2);
	if (access(argv[1], R_OK))
		fail_errno(argv[1]);
	pin = pin_of(argv[1]);
	check_kernel();
	need_bpf();
	if (mkdir(DIR, 0700) && errno != EEXIST)
		fail(DIR ": %s (mount -t bpf bpf " BPFFS ")", strerror(errno));
	if (!access(pin, F_OK))
		fail("%s: is already loaded (dcqcn cc unload %s removes it)", strrchr(pin, '/') + 1,
		     strrchr(pin, '/') + 1);
	bpf.set_print(print);
	object = bpf.open(argv[1], NULL);
	if (!object)
		fail_errno(argv[1]);
	if (bpf.pin(load(object, argv[1]), pin))
		fail_errno(pin);
	bpf.close(object);
	return EXIT_SUCCESS;
}

/* The algorithm is gone when this returns: without detaching it, the kernel does it later */
int cmd_cc_unload(int argc, char **argv)
{
	struct bpf_link *link;
	const char *pin;

	if (argc < 2)
		arg_missing("the algorithm");
	arg_none(argv + 2);
	pin = pin_of(argv[1]);
	if (access(pin, F_OK))
		fail("%s: %s", argv[1], errno == ENOENT ? "no such algorithm in eBPF" :
		     strerror(errno));
	need_bpf();
	bpf.set_print(print);
	link = bpf.open_link(pin);
	if (!link || bpf.detach(link) || unlink(pin))
		fail_errno(pin);
	return EXIT_SUCCESS;
}
