# SPDX-License-Identifier: GPL-2.0
# A scenario's runs as coloured cells. grid.py sets: title_text; panels, how
# many; of each data[], head[] and scale[], its file, its title and what its colours mean;
# width and height of all, and in the same pixels a panel's upper left corner, left[] and
# top[], its width across and its height down; xlabels[] and ylabels[], of its cells.
set terminal pngcairo size width,height font "sans,9"
set multiplot title title_text noenhanced font ",11"
set palette defined (0 "#b2182b", 0.5 "#fddbc7", 0.75 "#ffffbf", 1 "#4d9e5f")
set cbrange [0:1]
unset colorbox
unset key
set xrange [-0.5:|xlabels| - 0.5]
set yrange [|ylabels| - 0.5:-0.5]
set xtics () rotate by 90 right noenhanced scale 0
set ytics () noenhanced scale 0
set for [i = 1:|xlabels|] xtics add (xlabels[i] i - 1)
set for [i = 1:|ylabels|] ytics add (ylabels[i] i - 1)
set style fill solid border lc rgb "#ffffff"
do for [i = 1:panels] {
	set lmargin at screen 1.0 * left[i] / width
	set rmargin at screen 1.0 * (left[i] + across) / width
	set tmargin at screen 1 - 1.0 * top[i] / height
	set bmargin at screen 1 - 1.0 * (top[i] + down) / height
	set title head[i]."\n".scale[i] noenhanced offset 0,-0.5
	plot data[i] using 1:2:(0.5):(0.5):3 with boxxyerror lc palette, \
		'' using 1:2:(strcol(4) eq "x" ? "x" : strcol(4) eq "." ? "." : "") with labels \
			font ",10" tc rgb "#000000" noenhanced
}
unset multiplot
