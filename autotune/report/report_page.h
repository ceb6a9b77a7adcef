#pragma once

#include <string>
#include <string_view>

#include "autotune/report/report_data.h"

namespace normforge {

// One HTML file that needs nothing beside it, from a page with places for the data: page.html with its style and
// scripts. What is best is there as a table without its scripts too. Texts of the data cannot become markup.
std::string report_page(std::string_view page, const ReportJson &data);

}  // namespace normforge
