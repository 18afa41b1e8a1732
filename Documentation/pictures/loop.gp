# SPDX-License-Identifier: GPL-2.0
#
# The DCQCN loop: sender, switch, receiver. Run here: gnuplot loop.gp
# writes loop.svg. Coordinates are pixels, from the lower left.

set terminal svg size 900,330 dynamic background rgb "white" font "sans-serif,14"
set output "loop.svg"
set margins 0,0,0,0
unset key
unset border
unset tics
set xrange [0:900]
set yrange [0:330]

data = "#2244aa"
mark = "#c03020"
cnp = "#208040"

# The three boxes
array left[3] = [20, 350, 680]
do for [i = 1:3] {
	set object i rectangle from left[i],100 to left[i] + 200,300 fs empty border rgb "#666666" lw 1.5
}
set label "Sender" at 120,282 center font ",17"
set label "reaction point (RP)" at 120,260 center tc rgb "#444444"
set label "Switch" at 450,282 center font ",17"
set label "congestion point (CP)" at 450,260 center tc rgb "#444444"
set label "Receiver" at 780,282 center font ",17"
set label "notification point (NP)" at 780,260 center tc rgb "#444444"

# Data, from left to right
set arrow from 220,200 to 346,200 lw 2.5 lc rgb data
set arrow from 550,200 to 676,200 lw 2.5 lc rgb data
set label "data" at 283,216 center tc rgb data
set label "ECT(0)" at 283,184 center tc rgb data
set label "data" at 613,216 center tc rgb data
set label "CE on some" at 613,184 center tc rgb mark

# The queue: some packets that arrive beyond Kmin are marked
do for [i = 0:9] {
	set object 10 + i rectangle from 520 - 15 * i,185 to 531 - 15 * i,215 \
		fs solid 1 noborder fc rgb (i < 5 || i == 6 ? data : mark)
}
set arrow from 458,172 to 458,228 nohead dt 2 lw 1.5 lc rgb "#444444"
set label "Kmin" at 458,238 center font ",12"
set label "queue longer than Kmin:" at 450,150 center font ",12"
set label "mark some with CE" at 450,128 center tc rgb mark

set label "CE seen:" at 780,205 center font ",12"
set label "send a CNP, at most" at 780,183 center tc rgb cnp
set label "one per interval and QP" at 780,163 center tc rgb cnp

# CNPs go back
set arrow from 780,100 to 780,50 nohead lw 2.5 lc rgb cnp
set arrow from 780,50 to 120,50 nohead lw 2.5 lc rgb cnp
set arrow from 120,50 to 120,96 lw 2.5 lc rgb cnp
set label "CNP: congestion notification packet" at 450,32 center tc rgb cnp

# The rate of a QP: each CNP cuts it, time and bytes raise it
set arrow from 45,135 to 45,232 lw 1 lc rgb "#444444"
set arrow from 45,135 to 205,135 lw 1 lc rgb "#444444"
set label "rate" at 51,236 font ",12"
set label "time" at 176,122 font ",12"
set label "CNP: cut" at 125,232 center font ",12" tc rgb cnp

$rate << EOD
47 218
80 218
80 165
86 180
95 189
112 199
125 205
125 165
131 180
140 189
157 199
170 205
170 165
176 180
185 189
200 197
EOD
plot $rate using 1:2 with lines lw 2.5 lc rgb data
