// SPDX-License-Identifier: GPL-2.0
/* The settings of a port: defaults, and which combinations are refused. */
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "pfc.h"
#include "settings.h"

/* Marks as in the paper (Zhu et al., SIGCOMM 2015: 40 Gb/s). Priority 6 is for CNPs.
 * A class may hold as much as a switch's buffer.
 */
#define DEFAULT_LIMIT	(12 << 20)
#define DEFAULT_CURVE	{ .kmin = 5000, .kmax = 200000, .pmax = DCBPORT_PMAX_ONE / 100 }
/* about three frames of 1 KB, as in ns-3's SwitchMmu */
#define DEFAULT_PROFILE	{ .xon_offset = 3072 }

/* ms; SONiC's values for fast links */
#define LEAST_WATCH	200

/* A pause is a PFC storm if it lasts this many times the longest pause that one frame can ask for.
 * Once would be too few: a device that is still congested repeats its frame when half of the pause
 * is over.
 */
#define STORM_PAUSES	3

const struct dcbport_settings dcbport_defaults = {
	.overhead = 24,		/* preamble 8, FCS 4, gap 12 */
	.prio = { .trust = DCBPORT_TRUST_DSCP },
	.tc = { 0, 1, 2, 3, 4, 5, 6, 7 },
	.strict = 1 << 6,
	.weight = { 1, 1, 1, 1, 1, 1, 1, 1 },
	.limit = {
		DEFAULT_LIMIT, DEFAULT_LIMIT, DEFAULT_LIMIT, DEFAULT_LIMIT,
		DEFAULT_LIMIT, DEFAULT_LIMIT, DEFAULT_LIMIT, DEFAULT_LIMIT,
	},
	.curve = {
		DEFAULT_CURVE, DEFAULT_CURVE, DEFAULT_CURVE, DEFAULT_CURVE,
		DEFAULT_CURVE, DEFAULT_CURVE, DEFAULT_CURVE, DEFAULT_CURVE,
	},
	.thresholds = {
		DEFAULT_PROFILE, DEFAULT_PROFILE, DEFAULT_PROFILE, DEFAULT_PROFILE,
		DEFAULT_PROFILE, DEFAULT_PROFILE, DEFAULT_PROFILE, DEFAULT_PROFILE,
	},
	.action = DCBPORT_ACTION_DROP,
};

/* Whether the class has any priority */
static bool settings_uses(const struct dcbport_settings *s, int tc)
{
	int prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		if (s->tc[prio] == tc)
			return true;
	}
	return false;
}

/* Kmax of the priority's class is above its xOFF */
static bool settings_marks_late(const struct dcbport_settings *s, int prio)
{
	u32 xoff = s->thresholds[prio].xoff;

	return s->pfc & 1 << prio && xoff && s->curve[s->tc[prio]].kmax > xoff;
}

static const char *check_profile(const struct dcbport_settings *s, int prio,
				 bool in_switch)
{
	const struct dcbport_thresholds *th = &s->thresholds[prio];

	if (th->xon > th->xoff)
		return "xON is above xOFF";
	if (th->xoff && th->xoff < th->reserve)
		return "xOFF is below the reserve";
	if (in_switch && s->pfc & 1 << prio && !th->headroom)
		return "PFC without headroom loses packets in flight: set headroom";
	return NULL;
}

static const char *check_class(const struct dcbport_settings *s, int prio)
{
	const struct dcbport_curve *curve = &s->curve[prio];
	const struct dcbport_flow_bounds *flows = &s->flows[prio];

	if (curve->kmax && curve->kmin > curve->kmax)
		return "Kmin is above Kmax";
	if (curve->kmax > s->limit[prio])
		return "Kmax is above the class's limit: not all packets would be marked";
	if (flows->max && flows->min > flows->max)
		return "flows_min is above flows_max";
	if (!s->weight[prio] && !(s->strict & 1 << prio) &&
	    settings_uses(s, prio))
		return "a class with priorities but no weight would starve: give it 1 % or more";
	return NULL;
}

/**
 * dcbport_settings_check() - find settings that contradict each other
 * @s: the settings; each value is in its own range
 * @in_switch: the port is in a switch, so that thresholds apply
 *
 * Return: NULL, or an error message.
 */
const char *dcbport_settings_check(const struct dcbport_settings *s,
				   bool in_switch)
{
	const char *problem;
	int prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		problem = check_class(s, prio) ?: check_profile(s, prio, in_switch);
		if (problem)
			return problem;
	}
	return NULL;
}

/* 65535 quanta at the link's rate, in ms, rounded up */
static u64 longest_pause(const struct dcbport_settings *s)
{
	return div_u64(dcbport_pfc_nsec(DCBPORT_PFC_MAX, dcbport_rate(s)),
		       NSEC_PER_MSEC) + 1;
}

/**
 * dcbport_settings_detect() - return the time after which a pause is a PFC storm
 * @s: the settings
 *
 * Return: ms in which the class has packets but sends none; unless set, longer than any
 * single pause.
 */
u64 dcbport_settings_detect(const struct dcbport_settings *s)
{
	return s->detect ?: max_t(u64, LEAST_WATCH,
				  STORM_PAUSES * longest_pause(s));
}

/**
 * dcbport_settings_restore() - return the time after which a PFC storm is over
 * @s: the settings
 *
 * Return: ms in which no frame asks for a pause; unless set, at least as long as the
 * longest pause.
 */
u64 dcbport_settings_restore(const struct dcbport_settings *s)
{
	return s->restore ?: max_t(u64, LEAST_WATCH, longest_pause(s));
}

/**
 * dcbport_settings_warn() - find settings that are allowed but do not make sense
 * @s: the settings, which have passed dcbport_settings_check()
 *
 * Return: NULL, or a warning.
 */
const char *dcbport_settings_warn(const struct dcbport_settings *s)
{
	int prio;

	if (s->pfc && s->action != DCBPORT_ACTION_OFF && s->detect &&
	    s->detect <= longest_pause(s))
		return "detect is not above the longest pause: one frame looks like a PFC storm";
	for (prio = 0; prio < DCBPORT_PRIOS; prio++) {
		if (settings_marks_late(s, prio))
			return "Kmax is above xOFF: PFC begins before all packets are marked";
	}
	return NULL;
}

/**
 * dcbport_settings_counts_flows() - check whether a class must count its flows
 * @s: the settings
 * @tc: the class
 */
bool dcbport_settings_counts_flows(const struct dcbport_settings *s, int tc)
{
	return s->flows[tc].min || s->flows[tc].max;
}

/**
 * dcbport_settings_buffer() - return how much of its switch's buffer a priority reserves
 * @s: its port's settings
 * @prio: the priority
 *
 * Return: bytes.
 */
u64 dcbport_settings_buffer(const struct dcbport_settings *s, int prio)
{
	const struct dcbport_thresholds *th = &s->thresholds[prio];

	return s->pfc & 1 << prio ? (u64)th->reserve + th->headroom : 0;
}

/**
 * dcbport_settings_room() - return how much of its switch's buffer a port reserves
 * @s: its settings
 *
 * Return: bytes.
 */
u64 dcbport_settings_room(const struct dcbport_settings *s)
{
	u64 room = 0;
	int prio;

	for (prio = 0; prio < DCBPORT_PRIOS; prio++)
		room += dcbport_settings_buffer(s, prio);
	return room;
}
