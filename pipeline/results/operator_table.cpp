#include "pipeline/results/operator_table.h"

#include <algorithm>

namespace lookout {
namespace {

double sort_value(const OperatorRow& row, OperatorOrder order) {
  switch (order) {
    case OperatorOrder::kTotal:
      return static_cast<double>(row.total.count());
    case OperatorOrder::kMemory:
      return row.bytes;
    case OperatorOrder::kCalls:
      return row.calls;
    case OperatorOrder::kSelf:
      break;
  }
  return static_cast<double>(row.self.count());
}

}  // namespace

void sort_rows(OperatorOrder order, OperatorTable& table) {
  table.order = order;
  std::stable_sort(table.rows.begin(), table.rows.end(), [order](const auto& a, const auto& b) {
    return sort_value(a, order) > sort_value(b, order);
  });
}

}  // namespace lookout
