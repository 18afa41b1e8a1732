// SPDX-License-Identifier: GPL-2.0
/* A queue of packets over time: how long it was how long, its swings, and samples of all of it. */
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "measure.h"
#include "number.h"
#include "packet.h"

#define LONGEST		65536	/* packets; there are no more */
#define SHORTER		64	/* may a run be than was asked for, until samples become fewer */
#define SLOT_LEAST	1e-6	/* ns; adding it still moves a time on */
#define SERIES		16384	/* looks at the queue, from which its swings are counted */

static struct {
	double packet;		/* bytes */
	double slot;		/* ns; of a sample */
	double look;		/* ns; from one look to the next */
	double now;
	double begin;		/* ns; PACKET_NEVER: not yet */
	double next_look;
	double next_sample;
	double spent[LONGEST];	/* ns with a queue of this many packets */
	size_t longest;		/* of them */
	size_t start_longest;
	float series[SERIES];
	size_t looks;
	struct dcqcn_model_sample sample[DCQCN_MODEL_SAMPLES];
	size_t samples;
	u32 came;		/* packets in this slot */
} m;

/**
 * measure_setup() - begin with an empty queue
 * @duration: ns; the second half is measured
 * @packet: bytes
 */
void measure_setup(double duration, double packet)
{
	size_t i;

	for (i = 0; i <= m.longest; i++)
		m.spent[i] = 0;
	m.packet = packet;
	m.slot = max(duration / DCQCN_MODEL_SAMPLES / SHORTER, SLOT_LEAST);
	m.look = duration / 2 / SERIES;
	m.now = 0;
	m.begin = PACKET_NEVER;
	m.longest = 0;
	m.start_longest = 0;
	m.looks = 0;
	m.samples = 0;
	m.next_sample = 0;
	m.came = 0;
}

/**
 * measure_begin() - the start is over
 * @now: ns; the queue was measured until then
 */
void measure_begin(double now)
{
	m.begin = now;
	m.next_look = now;
}

static void look_until(double now, size_t queue)
{
	for (; m.next_look <= now && m.looks < SERIES; m.next_look += m.look)
		m.series[m.looks++] = (float)(queue * m.packet);
}

/* There are as many samples as fit: from now on each is of twice the time */
static void merge_samples(void)
{
	size_t i;

	m.slot *= 2;
	m.samples /= 2;
	for (i = 0; i < m.samples; i++) {
		const struct dcqcn_model_sample *a = &m.sample[2 * i], *b = a + 1;

		m.sample[i] = (struct dcqcn_model_sample) {
			.time_us = a->time_us,
			.queue_bytes = number_max(a->queue_bytes, b->queue_bytes),
			.rate_bps = (a->rate_bps + b->rate_bps) / 2,
		};
	}
}

/* The next samples */
static void sample_until(double now, double queue)
{
	for (; m.next_sample <= now; m.next_sample += m.slot) {
		if (m.samples)
			m.sample[m.samples - 1].rate_bps = m.came * m.packet * 8e9 / m.slot;
		m.came = 0;
		if (m.samples == DCQCN_MODEL_SAMPLES)
			merge_samples();
		m.sample[m.samples++] = (struct dcqcn_model_sample) {
			.time_us = m.next_sample / 1000,
			.queue_bytes = queue,
		};
	}
}

/**
 * measure_until() - let time pass in which the queue does not change
 * @now: ns
 * @queue: packets
 */
void measure_until(double now, size_t queue)
{
	struct dcqcn_model_sample *sample;

	if (now >= m.next_sample)
		sample_until(now, queue * m.packet);
	sample = &m.sample[m.samples - 1];
	sample->queue_bytes = number_max(sample->queue_bytes, queue * m.packet);
	queue = min(queue, (size_t)LONGEST - 1);
	if (m.begin < PACKET_NEVER) {
		m.longest = max(m.longest, queue);
		m.spent[queue] += now - m.now;
		look_until(now, queue);
	} else {
		m.start_longest = max(m.start_longest, queue);
	}
	m.now = now;
}

/**
 * measure_came() - a packet comes in
 */
void measure_came(void)
{
	m.came++;
}

/* The queue that is not exceeded for a time */
static double percentile(double time)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < m.longest; i++) {
		sum += m.spent[i];
		if (sum >= time)
			break;
	}
	return i * m.packet;
}

/* How often the queue comes up from a quarter of the way to three quarters */
static size_t swings(double low, double high)
{
	double down = low + (high - low) / 4, up = high - (high - low) / 4;
	bool was_down = false;
	size_t i, count = 0;

	for (i = 0; i < m.looks; i++) {
		if (m.series[i] <= down) {
			was_down = true;
		} else if (m.series[i] >= up && was_down) {
			was_down = false;
			count++;
		}
	}
	return count;
}

/**
 * measure_end() - conclude
 * @r: set: what there is to say of the queue
 * @kmin: bytes
 * @kmax: bytes
 */
void measure_end(struct trace_result *r, double kmin, double kmax)
{
	double time = m.now - m.begin, sum = 0, below = 0, above = 0;
	size_t i;

	for (i = 0; i <= m.longest; i++) {
		sum += i * m.spent[i];
		if (i * m.packet > kmax)
			above += m.spent[i];
		else if (i * m.packet <= kmin)
			below += m.spent[i];
	}
	r->begin = m.begin;
	r->duration = m.now;
	r->queue_mean = sum * m.packet / time;
	r->queue_p5 = percentile(0.05 * time);
	r->queue_p95 = percentile(0.95 * time);
	r->queue_p99 = percentile(0.99 * time);
	r->queue_max = m.longest * m.packet;
	r->start_peak = m.start_longest * m.packet;
	r->below_kmin_share = number_min(1, below / time);
	r->above_kmax_share = above / time;
	i = swings(r->queue_p5, r->queue_p95);
	r->period = i > 1 ? time / i : 0;
}

/**
 * measure_samples() - all of it
 * @samples: set to the samples
 *
 * Return: how many there are.
 */
size_t measure_samples(const struct dcqcn_model_sample **samples)
{
	*samples = m.sample;
	return m.samples;
}
