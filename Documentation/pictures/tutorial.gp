# SPDX-License-Identifier: GPL-2.0
#
# The queues of tutorial's third lesson. After "sim run out/thresholds.toml", in the top of the
# tree: gnuplot Documentation/pictures/tutorial.gp

set terminal png size 900,460 font ",9"
set output "Documentation/pictures/tutorial.png"
set datafile separator ","
set multiplot layout 4,1 margins char 8,char 3,char 3.5,char 1 spacing char 0,char 1
set xrange [0:60]
set yrange [0:*]
set xtics format ""
set key off
do for [marks in "paper early late steep"] {
	if (marks eq "steep") {
		set xtics format "%g"
		set xlabel "simulated time, ms"
	}
	step = (marks eq "late" ? 500 : 100)
	set ytics 0,step
	set yrange [0:(marks eq "late" ? 1100 : 320)]
	if (marks eq "early") { set ylabel "queue, KB" offset 0,-2 } else { unset ylabel }
	set label 1 marks at graph 0.012,0.85 front
	plot sprintf("out/sim/thresholds/marks=%s/queue.csv", marks) using 1:($3 / 1e3) with lines \
		lw 1.2 lc rgb "#2244aa"
}
unset multiplot
