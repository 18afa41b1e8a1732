# SPDX-License-Identifier: GPL-2.0
#
# A lab scenario's runs below each other on the same axes. report.py sets:
# style (the path of style.gp), output, heading, end (s), top_rate, top_queue,
# top_events, and by run, from 1 on: runs; name[], csv[], kmin[], kmax[] (bytes),
# queues[] and qps[] (how many). Columns of a run's CSV: time; for each queue its
# mean, maximum, marks/s and drops/s; CNPs/s; each QP's Mb/s.

height = 60 + 450 * runs
load style
set datafile separator ","
set multiplot layout 3 * runs,1 title heading noenhanced
set xrange [0:end]
set format x ""
set key outside top horizontal noenhanced maxrows 2

do for [r = 1:runs] {
	first_qp = 2 + 4 * queues[r] + 1
	file = csv[r]
	last = (r == runs)

	set title name[r] noenhanced offset 0,-0.5
	set ylabel "goodput, Mb/s"
	set yrange [0:top_rate]
	unset key
	plot for [i = first_qp:first_qp + qps[r] - 1] file using 1:i with lines lw 1.5
	unset title

	set key outside top horizontal noenhanced maxrows 2
	set ylabel "queue, KB"
	set yrange [0:top_queue / 1e3]
	plot for [q = 0:queues[r] - 1] file using 1:(column(3 + 4 * q) / 1e3) with lines \
			lc rgb (q ? "#e0c090" : "#b0c4e8") title (q ? "" : "most in 0.1 s"), \
	     for [q = 0:queues[r] - 1] file using 1:(column(2 + 4 * q) / 1e3) with lines \
			lc rgb (q ? "#c07000" : "#2244aa") title \
			(queues[r] > 1 ? word(ports[r], q + 1) : "mean"), \
	     kmin[r] / 1e3 with lines dt 2 lc rgb "#228822" title "Kmin", \
	     kmax[r] / 1e3 with lines dt 2 lc rgb "#aa2222" title "Kmax"

	set ylabel "per second"
	set yrange [0:top_events]
	if (last) {
		set format x "%g"
		set xlabel "time since all QPs were connected, s"
	}
	plot for [q = 0:queues[r] - 1] file using 1:(column(5 + 4 * q)) with lines \
			lc rgb "#999999" title (q ? "" : "drops"), \
	     for [q = 0:queues[r] - 1] file using 1:(column(4 + 4 * q)) with lines \
			lc rgb "#aa2222" title (q ? "" : "CE marks"), \
	     file using 1:(column(first_qp - 1)) with lines lc rgb "#2244aa" title "CNPs"
}
unset multiplot
