// Two traces, before and after a change: which stages and operators take longer or shorter, came,
// or went.
//
// Of each stage and each operator, the time in each frame is known (an operator's self time in all
// its calls). Neighbouring frames are alike, so that the samples are the means of ten blocks of
// frames that follow each other (batch means), or the frames themselves where there are few. The
// difference of the means has Welch's interval, which assumes neither equal spreads nor equal
// numbers of frames. It holds with 95 % for all rows of a list together (Bonferroni), so that a
// list of fifty rows does not differ by chance.
#pragma once

#include "app/report/report.h"
#include "app/trace/trace_report.h"

namespace lookout {

// Both have frames. Of operators, frames count that have some: of ONNX Runtime only the first have.
// The report refers to the traces.
Report make_comparison(const TraceFile& before, const TraceFile& after);

}  // namespace lookout
