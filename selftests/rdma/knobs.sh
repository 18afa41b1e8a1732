#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The knobs below ecn/: which exist, which values they accept, and their errors for
# others. Other tests check their effects.

# shellcheck source=lib.sh
. "$(dirname "$0")/lib.sh"

TESTS=(
	"files There are exactly the documented files, mode 0644, with plain numbers but for algorithms"
	"defaults Defaults are in range, all priorities enabled, and CNPs as NICs send them"
	"range A value out of range gives ERANGE and changes nothing"
	"garbage A value that is not a number gives EINVAL and changes nothing"
	"accepted The lowest and the highest value are accepted and read back"
	"algorithms The file of algorithms accepts names, by all ways that set it, and only those listed"
	"cc_params debugfs has the knobs under mlx5's names, also after a change of the port's name"
	"parameters Module parameters choose the profile and the roles"
)

U32=4294967295
# file, least, most
KNOBS=$(grep -v '^#' "$HERE/knobs" | while read -r _ file least most; do
	case $file in
	*/enable)	for p in 0 1 2 3 4 5 6 7; do echo "$file/$p 0 1"; done ;;
	*)		echo "$file $least $most" ;;
	esac
done)

each_knob() # FUNCTION: called with file, least, most
{
	local f least most

	while read -r f least most; do
		[ -z "$f" ] || "$1" "$f" "$least" "$most"
	done <<<"$KNOBS"
}

DIR=/sys/class/net/$NETIF/ecn
# No processes here: there are hundreds of reads and writes
get() { read -r VALUE <"$DIR/$1"; }
set_error()			# of a write, empty if it went well
{
	{ echo "$2" >"$DIR/$1"; } 2>$TMP/error
	read -r ERROR <$TMP/error || ERROR=
	ERROR=${ERROR##*write error: }
}

files()
{
	local want got
	reload local
	want=$({ echo "$KNOBS" | sed '/^$/d; s/\s.*//'
		printf 'roce_rp/%s\n' cc_algorithm cc_available; } | sort)
	got=$(cd "$DIR" && find . -type f | sed 's|^\./||' | sort)
	[ "$want" = "$got" ] || fail "$(diff <(echo "$want") <(echo "$got"))"
	check "files of another mode" "$(find "$DIR" -type f ! -perm 644)" = "$DIR/roce_rp/cc_available"
	plain_number() {
		get "$1"
		[[ $VALUE =~ ^(0|[1-9][0-9]*)$ ]] || fail "$1 reads '$VALUE'"
	}
	each_knob plain_number
}

defaults()
{
	reload local
	check "DSCP, priority, source port" \
		"$(cd "$DIR/roce_np" && cat cnp_dscp cnp_802p_prio cnp_udp_sport | tr '\n' ' ')" = "48 6 0 "
	check "enabled" "$(cat "$DIR"/*/enable/* | tr -d '\n')" = 1111111111111111
	default_in_range() {
		get "$1"
		check "$1 in range" "$VALUE" -ge "$2" && check "$1 in range" "$VALUE" -le "$3"
	}
	each_knob default_in_range
}

algorithms()
{
	reload local
	get roce_rp/cc_available
	check "algorithms" "$VALUE" = "dcqcn swift timely dctcp fast fast-oneway hpcc powertcp"
	get roce_rp/cc_algorithm
	check "the default" "$VALUE" = dcqcn
	for v in swift timely dctcp fast fast-oneway hpcc powertcp; do
		set_error roce_rp/cc_algorithm $v
		check "error" -z "$ERROR"
		get roce_rp/cc_algorithm
		check "algorithm" "$VALUE" = $v
	done
	for v in "" nonesuch swiftly 1; do
		refused roce_rp/cc_algorithm "$v" "No such file or directory"
	done
	"$DCQCN" cc list | grep -qx "powertcp ${DEV[local]}" || fail "$("$DCQCN" cc list)"
	"$DCQCN" cc use timely dev "${DEV[local]}"
	"$DCQCN" save | grep -qx "${DEV[local]} cc_algorithm timely" || fail "$("$DCQCN" save)"
	"$DCQCN" save -o $TMP/saved
	"$DCQCN" cc use dcqcn
	"$DCQCN" save -o $TMP/default
	"$DCQCN" restore $TMP/saved
	get roce_rp/cc_algorithm
	check "restored" "$VALUE" = timely
	"$DCQCN" restore $TMP/default
	get roce_rp/cc_algorithm
	check "the default restored" "$VALUE" = dcqcn
	! "$DCQCN" cc use nonesuch 2>$TMP/error || fail "an algorithm that does not exist is used"
	grep -q "no such algorithm" $TMP/error || fail "$(cat $TMP/error)"
}

refused() # FILE VALUE ERROR
{
	local before
	get "$1"; before=$VALUE
	set_error "$1" "$2"
	[ "$ERROR" = "$3" ] || fail "$1: '$2' gives '$ERROR', not '$3'"
	get "$1"
	check "$1 after '$2'" "$VALUE" = "$before"
}

range()
{
	reload local
	outside() {
		local erange="Numerical result out of range"
		[ "$2" = 0 ] || refused "$1" $(($2 - 1)) "$erange"
		refused "$1" $(($3 + 1)) "$erange"
		refused "$1" 99999999999999999999 "$erange"
	}
	each_knob outside
}

garbage()
{
	reload local
	nonsense() {
		local v
		for v in "" -1 x 0x10 1x "1 1" 1.0; do
			refused "$1" "$v" "Invalid argument"
		done
	}
	each_knob nonsense
}

accepted()
{
	reload local
	extremes() {
		local v
		for v in "$2" "$3"; do
			set_error "$1" "$v"
			[ -z "$ERROR" ] || fail "$1: $v: $ERROR"
			get "$1"
			check "$1 reads back" "$VALUE" = "$v"
		done
	}
	each_knob extremes
}

# name, the knob's file
CC_PARAMS="
rp_clamp_tgt_rate		roce_rp/clamp_tgt_rate
rp_clamp_tgt_rate_ati		roce_rp/clamp_tgt_rate_after_time_inc
rp_time_reset			roce_rp/rpg_time_reset
rp_byte_reset			roce_rp/rpg_byte_reset
rp_threshold			roce_rp/rpg_threshold
rp_ai_rate			roce_rp/rpg_ai_rate
rp_max_rate			roce_rp/rpg_max_rate
rp_hai_rate			roce_rp/rpg_hai_rate
rp_min_dec_fac			roce_rp/rpg_min_dec_fac
rp_min_rate			roce_rp/rpg_min_rate
rp_rate_to_set_on_first_cnp	roce_rp/rate_to_set_on_first_cnp
rp_dce_tcp_g			roce_rp/dce_tcp_g
rp_dce_tcp_rtt			roce_rp/dce_tcp_rtt
rp_rate_reduce_monitor_period	roce_rp/rate_reduce_monitor_period
rp_initial_alpha_value		roce_rp/initial_alpha_value
rp_gd				roce_rp/rpg_gd
np_min_time_between_cnps	roce_np/min_time_between_cnps
np_cnp_dscp			roce_np/cnp_dscp
np_cnp_prio			roce_np/cnp_802p_prio
np_cnp_prio_mode		-
rtt_resp_dscp_valid		-
rtt_resp_dscp			-"

cc_params()
{
	local ecn=$DIR DIR rxe name file least most got

	rxe=$(rdma link | sed -n "s|^link \\(.*\\)/1 .* netdev $NETIF .*|\1|p")
	DIR=$FAULTS/$rxe/cc_params
	reload local
	check "files" "$(cd "$DIR" && echo *)" = "$(echo $(awk '{ print $1 }' <<<"$CC_PARAMS" | sort))"
	check "files of another mode" -z "$(find "$DIR" -type f ! -perm 600)"
	while read -r name file; do
		case $file in
		"")	continue ;;
		-)	refused "$name" 1 "Operation not supported"
			set_error "$name" 0
			check "$name to 0" -z "$ERROR"
			continue ;;
		esac
		read -r _ least most < <(grep "^$file[[:blank:]]" <<<"$KNOBS")
		[ "$most" = $U32 ] || refused "$name" $((most + 1)) "Numerical result out of range"
		refused "$name" 4294967296 "Numerical result out of range"
		refused "$name" x "Invalid argument"
		set_error "$name" $most
		check "$name to $most" -z "$ERROR"
		read -r got <"$ecn/$file"
		check "$file after $name" "$got" = $most
		echo "$least" >"$ecn/$file"
		get "$name"
		check "$name after $file" "$VALUE" = "$least"
	done <<<"$CC_PARAMS"
	echo 0x1f >"$DIR/rp_threshold"
	get rp_threshold
	check "a hexadecimal number" "$VALUE" = 31
	rdma dev set $rxe name other
	get ../../other/cc_params/rp_threshold
	rdma dev set other name $rxe
	check "after a change of name" "$VALUE" = 31
	check "the former name" ! -e $FAULTS/other
	get rp_threshold
	unload local
	check "without the module" ! -e $FAULTS
	reload local
}

parameters()
{
	local mlx5
	get() { cat "$DIR/$1"; }
	MODULE_ARGS="profile=mlx5 np=0"
	reload local
	mlx5="$(get roce_np/min_time_between_cnps) $(get roce_rp/dce_tcp_g) $(get roce_rp/dce_tcp_rtt)"
	mlx5+=" $(get roce_rp/rate_reduce_monitor_period) $(get roce_rp/rpg_time_reset)"
	mlx5+=" $(get roce_rp/rpg_byte_reset) $(get roce_rp/rpg_threshold) $(get roce_rp/rpg_ai_rate)"
	mlx5+=" $(get roce_rp/rpg_hai_rate) $(get roce_rp/clamp_tgt_rate) $(get roce_rp/alpha_on_cut)"
	check "mlx5's defaults" "$mlx5" = "4 1019 1 4 300 32767 1 5 50 0 0"
	check "NP off" "$(cat "$DIR"/roce_np/enable/* | tr -d '\n')" = 00000000
	check "RP on" "$(cat "$DIR"/roce_rp/enable/* | tr -d '\n')" = 11111111
	MODULE_ARGS="profile=sigcomm15 rp=0"
	reload local
	check "the paper's N, T, B" "$(get roce_np/min_time_between_cnps) $(get roce_rp/rpg_time_reset) \
$(get roce_rp/rpg_byte_reset) $(get roce_rp/rpg_threshold)" = "50 55 10000000 5"
	check "RP off" "$(cat "$DIR"/roce_rp/enable/* | tr -d '\n')" = 00000000
	unload local
	load local profile=nonesuch 2>/dev/null && fail "an unknown profile is accepted"
	check "not loaded" ! -d "$DIR"
}

run_tests "$@"
