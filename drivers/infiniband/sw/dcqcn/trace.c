// SPDX-License-Identifier: GPL-2.0
/* Where the tracepoints of trace.h live. */
#define CREATE_TRACE_POINTS
#include "trace.h"
