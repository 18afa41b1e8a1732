# SPDX-License-Identifier: GPL-2.0
#
# Common settings of the pictures. Needs: output, with its extension; height.

if (output[strlen(output) - 3:] eq ".svg") {
	set terminal svg size 900,height dynamic background rgb "white" font ",11"
} else {
	# not pngcairo, whose smooth lines make the file seven times as large
	set terminal png size 900,height font ",9"
}
set output output
set lmargin 12
set rmargin 3
set grid
set yrange [0:*]
