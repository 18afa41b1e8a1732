# SPDX-License-Identifier: GPL-2.0
#
# A lab scenario's runs below each other on the same axes. report.py sets:
# svg, style (the path of style.gp), heading, end (s), top_rate, top_queue,
# top_events, runs, and of each run, from 1 on: name[], csv[], kmin[] and kmax[]
# (bytes), ports[] (words), qps[] (how many). Columns of a run's CSV: time; of each
# port the queue's mean and maximum, marks/s and drops/s; CNPs/s; PFC frames/s; each
# QP's Mb/s. pfc: whether there is any PFC frame.

height = 70 + 390 * runs
load style
set datafile separator ","
set multiplot layout 3 * runs,1 title heading noenhanced \
	margins char 10,char 2,char 3.5,char 3 spacing char 0,char 0.7
set xrange [0:end]
set format x ""
set ytics nomirror
set xtics nomirror
set border 3
set grid lc rgb "#dddddd"
set key inside top right horizontal noenhanced samplen 1.5 maxrows 1 opaque width 1

# draw 0 on a logarithmic axis, too
positive(x) = (x < 1 ? 1 : x)

do for [r = 1:runs] {
	n = words(ports[r])
	first_qp = 2 + 4 * n + 2
	file = csv[r]
	two_ports = (n > 1)

	set label 1 name[r] at graph 0.01,0.9 left front noenhanced font ",12"
	set ylabel "goodput, Mb/s"
	set yrange [0:top_rate]
	plot for [i = first_qp:first_qp + qps[r] - 1] file using 1:i with lines lw 1.2 notitle
	unset label 1

	set ylabel "queue, KB"
	set yrange [0:top_queue / 1e3]
	plot for [q = 0:n - 1] file using 1:(column(3 + 4 * q) / 1e3) with lines \
			lc rgb word("#b8c8e8 #ecd0a8 #c8e0c8 #e8c8e0", q % 4 + 1) \
			title (q ? "" : "most in 0.1 s"), \
	     for [q = 0:n - 1] file using 1:(column(2 + 4 * q) / 1e3) with lines \
			lc rgb word("#2244aa #c07000 #208040 #a02080", q % 4 + 1) \
			title (two_ports ? word(ports[r], q + 1) : "mean"), \
	     kmin[r] / 1e3 with lines dt 2 lc rgb "#228822" title "Kmin", \
	     kmax[r] / 1e3 with lines dt 2 lc rgb "#aa2222" title "Kmax"

	set ylabel "per second"
	set logscale y
	set yrange [1:top_events]
	if (r == runs) {
		set format x "%g"
		set xlabel "time, s"
	}
	plot for [q = 0:n - 1] file using 1:(positive(column(5 + 4 * q))) with lines \
			lc rgb "#999999" title (q ? "" : "drops"), \
	     for [q = 0:n - 1] file using 1:(positive(column(4 + 4 * q))) with lines \
			lc rgb "#aa2222" title (q ? "" : "CE marks"), \
	     file using 1:(positive(column(first_qp - 2))) with lines lc rgb "#2244aa" title "CNPs", \
	     for [c = first_qp - 1:pfc ? first_qp - 1 : 0] file using 1:(positive(column(c))) \
			with lines lc rgb "#c07000" title "PFC frames"
	unset logscale y
}
unset multiplot
