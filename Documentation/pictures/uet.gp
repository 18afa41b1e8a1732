# SPDX-License-Identifier: GPL-2.0
#
# The queue of uet's 32:1 incast at 40 Gb/s. After "sim run uet --only cell=40gbit-32", in the
# top of the tree: gnuplot Documentation/pictures/uet.gp

height = 860
svg = 0
load "tools/plot/style.gp"
set output "Documentation/pictures/uet.png"
set datafile separator ","
set key noenhanced right top
runs = "stock pfc dcqcn nscc rccc both"
names = "'no control, 1 MB' 'PFC, 16 MB' 'DCQCN, profile auto, 1 MB' \
'window (NSCC), 1 MB' 'credit (RCCC), 1 MB' 'window and credit, 1 MB'"
set multiplot layout 6,1
set xrange [0:16]
set ylabel "queue, KB"
do for [i = 1:6] {
	file = sprintf("out/sim/uet/control=%s,cell=40gbit-32/queue.csv", word(runs, i))
	set yrange [0:(word(runs, i) eq "pfc" ? 3300 : 1100)]
	if (i == 6) { set xlabel "simulated time, ms" }
	plot file using 1:($3 / 1e3) with filledcurves y1=0 fc rgb "#88aadd" notitle, \
		file using 1:($3 / 1e3) with lines lw 1 lc rgb "#2244aa" title word(names, i), \
		file using ($5 > 0 ? $1 : NaN):(1000) with points pt 2 ps .5 lc rgb "#aa2222" \
			title (word(runs, i) eq "stock" ? "drops" : "")
}
unset multiplot
