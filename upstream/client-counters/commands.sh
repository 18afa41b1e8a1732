# SPDX-License-Identifier: GPL-2.0
# "rdma statistic" shows each counter of hw_counters/, with the same value: those of rxe, which
# come first, and those of rdma_dcqcn, a client of the RDMA core. Then the test that the patches
# bring for IB/cm, another client.
ip link add near type dummy
ip addr add 10.0.0.1/24 dev near
ip link set near up
rdma link add rxe0 type rxe netdev near
shown=$(rdma statistic show link rxe0/1 | tr '\n' ' ')
echo "$shown"
missing=
for file in /sys/class/infiniband/rxe0/ports/1/hw_counters/*; do
	name=${file##*/}
	case $name in lifespan) continue ;; esac
	case " $shown " in
	*" $name $(cat "$file") "*) ;;
	*) missing="$missing $name" ;;
	esac
done
[ -z "$missing" ] || echo "FAULT: rdma statistic does not show$missing"
rdma link del rxe0

sed '1,/^+++ .*rxe_client_counters.sh$/d' 0003-*.patch | sed -n 's/^+//p' >/run/test.sh
bash /run/test.sh || echo "FAULT: the test of IB/cm's counters fails"
