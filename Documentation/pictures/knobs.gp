# SPDX-License-Identifier: GPL-2.0
#
# The pictures of operating.rst. After "sim run knobs", in the top of the tree:
# gnuplot Documentation/pictures/knobs.gp
#
# A panel is a run: rates of both flows on the left scale, in Gb/s, and the queue as an area
# on the right scale, in KB. Each row is a knob, turned down on the left and up on the right.

set datafile separator ","
results = "out/sim/knobs/knob="

marks = "kmin-1KB kmin-100KB kmax-20KB kmax-800KB pmax-0.001 pmax-0.5 \
min_time_between_cnps-4 min_time_between_cnps-1000"
cuts = "initial_alpha_value-128 initial_alpha_value-512 \
rate_to_set_on_first_cnp-4000 rate_to_set_on_first_cnp-20000 \
dce_tcp_g-900 dce_tcp_g-1023 dce_tcp_rtt-5 dce_tcp_rtt-1000 \
rate_reduce_monitor_period-200 rate_reduce_monitor_period-2000 rpg_gd-10 rpg_gd-14 \
rpg_min_dec_fac-50 rpg_min_dec_fac-95 clamp_tgt_rate-0 clamp_tgt_rate_after_time_inc-0"
increases = "rpg_time_reset-15 rpg_time_reset-300 rpg_byte_reset-100000 rpg_byte_reset-0 \
rpg_threshold-1 rpg_threshold-31 rpg_ai_rate-5 rpg_ai_rate-400 rpg_hai_rate-1 rpg_hai_rate-4000"
bounds = "rpg_max_rate-10000 rpg_max_rate-100000 rpg_min_rate-10000 rpg_min_rate-25000 \
start_burst-12288"

# What is set besides
besides(run) = (run[1:29] eq "clamp_tgt_rate_after_time_inc" ? ", clamp_tgt_rate = 0" : \
	run[1:12] eq "rpg_hai_rate" ? ", rpg_byte_reset = 1000000" : "")
label(run) = run[:strstrt(run, "-") - 1] . " = " . run[strstrt(run, "-") + 1:] . besides(run)

do for [picture in "base marks cuts increases bounds"] {
	runs = (picture eq "base" ? "none" : value(picture))
	rows = (words(runs) + 1) / 2
	reset
	set datafile separator ","
	set terminal png size 900,(picture eq "base" ? 190 : 40 + 118 * rows) font ",9"
	set output "Documentation/pictures/knobs-" . picture . ".png"
	set multiplot layout rows,(words(runs) > 1 ? 2 : 1) \
		margins char (picture eq "base" ? 8 : 5),char (picture eq "base" ? 9 : 7),\
		char (picture eq "base" ? 4 : 3),char 1.5 spacing char 13,char 1.5
	set xrange [0:60]
	set yrange [0:56]
	set y2range [0:560]
	set ytics 0,20,40 nomirror
	set y2tics 0,200,400
	set xtics 0,15 format ""
	set key off
	if (picture eq "base") {
		set ylabel "rate, Gb/s" offset 1
		set y2label "queue, KB" offset -1
		set xlabel "simulated time, ms" offset 0,0.6
	}
	do for [i = 1:words(runs)] {
		run = word(runs, i)
		if (i > words(runs) - 2) { set xtics format "%g" }
		set label 1 (run eq "none" ? "all knobs as sigcomm15 has them" : label(run)) \
			at graph 0.012,0.88 front noenhanced
		plot results . run . "/queue.csv" using 1:($2 / 1e3) axes x1y2 \
				with filledcurves y1=0 lc rgb "#cccccc", \
			results . run . "/rates.csv" using 1:($2 / 1e3) with lines lw 1.2 \
				lc rgb "#2244aa", \
			"" using 1:($3 / 1e3) with lines lw 1.2 lc rgb "#c06000"
	}
	unset multiplot
}
