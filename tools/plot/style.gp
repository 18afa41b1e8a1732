# SPDX-License-Identifier: GPL-2.0
#
# Common settings of the pictures. Needs: svg, whether it is one; height. Who loads it says
# where the picture goes.

if (svg) {
	set terminal svg size 900,height dynamic background rgb "white" font ",11"
} else {
	# not pngcairo, whose smooth lines make the file seven times as large
	set terminal png size 900,height font ",9"
}
set lmargin 12
set rmargin 3
set grid
set yrange [0:*]
