# SPDX-License-Identifier: GPL-2.0
#
# The queue of quickstart's two runs. After "sim run out/knob.toml", in the top of the tree:
# gnuplot Documentation/pictures/quickstart.gp

height = 420
svg = 0
load "tools/plot/style.gp"
set output "Documentation/pictures/quickstart.png"
set datafile separator ","
set key noenhanced opaque
set multiplot layout 2,1
set yrange [0:300]
set xrange [0:100]
set ylabel "queue, KB"
do for [step in "10 160"] {
	if (step == 160) { set xlabel "simulated time, ms" }
	plot sprintf("out/sim/knob/step=%s/queue.csv", step) using 1:($3 / 1e3) with lines \
			lw 1.5 lc rgb "#2244aa" title sprintf("rpg_ai_rate %s Mb/s", step), \
		200 with lines dt 2 lc rgb "#aa2222" title "Kmax"
}
unset multiplot
