//! The small functions that expressions call: the integer semantics of [`arith`](crate::meaning::arith), in C.
//!
//! A file contains only the helpers that its expressions use, so that it has no dead code. Each has a checked version
//! for the domain, which is evaluated before anything is known about a call: where there is no value, it clears `*ok`.

use std::collections::BTreeSet;

/// A function: its name, its callees, its text.
struct Helper {
    name: &'static str,
    calls: &'static [&'static str],
    text: &'static str,
}

/// The helpers with these names and everything that they call, callees first.
pub(super) fn text(wanted: &BTreeSet<&'static str>) -> String {
    let mut used = wanted.clone();
    // Callees come before their callers.
    for helper in HELPERS.iter().rev() {
        if used.contains(helper.name) {
            used.extend(helper.calls);
        }
    }
    let texts: Vec<&str> =
        HELPERS.iter().filter(|helper| used.contains(helper.name)).map(|helper| helper.text).collect();
    texts.concat()
}

macro_rules! helpers {
    ($($name:literal calls [$($call:literal),*]: $text:literal)*) => {
        const HELPERS: &[Helper] = &[$(Helper { name: $name, calls: &[$($call),*], text: $text }),*];
    };
}

helpers! {
"min" calls []: r"/* The smaller of two numbers. */
static int64_t rdl_min(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

"
"max" calls []: r"/* The larger of two numbers. */
static int64_t rdl_max(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

"
"rem" calls []: r"/* The Euclidean remainder: never negative. */
static int64_t rdl_rem(int64_t a, int64_t b)
{
    int64_t r = b == -1 ? 0 : a % b;
    return r >= 0 ? r : b < 0 ? r - b : r + b;
}

"
"div" calls []: r"/* The Euclidean quotient: its remainder is never negative. */
static int64_t rdl_div(int64_t a, int64_t b)
{
    int64_t q = a / b;
    return a % b >= 0 ? q : b < 0 ? q + 1 : q - 1;
}

"
"wrap" calls ["rem"]: r"/* x brought into 0..modulus. */
static int64_t rdl_wrap(int64_t x, int64_t modulus)
{
    return x >= 0 && x < modulus ? x : rdl_rem(x, modulus);
}

"
"pair" calls ["wrap"]: r"/* The number of the block that source has for destination. */
static int64_t rdl_pair(int64_t source, int64_t destination, int64_t p)
{
    return rdl_wrap(source, p) * p + rdl_wrap(destination, p);
}

"
"pow" calls []: r"/* base to the power exponent. */
static int64_t rdl_pow(int64_t base, int64_t exponent)
{
    int64_t power = 1;
    while (exponent-- > 0)
        power *= base;
    return power;
}

"
"ceil_log" calls []: r"/* The smallest k with base^k >= n. */
static int64_t rdl_ceil_log(int64_t base, int64_t n)
{
    int64_t power = 1, k = 0;
    for (; power < n; k++)
        power = power > INT64_MAX / base ? INT64_MAX : power * base;
    return k;
}

"
"floor_log" calls []: r"/* The largest k with base^k <= n. */
static int64_t rdl_floor_log(int64_t base, int64_t n)
{
    int64_t k = 0;
    for (; n >= base; k++)
        n /= base;
    return k;
}

"
"ceil_div" calls ["div", "rem"]: r"/* The quotient rounded up, for a positive divisor. */
static int64_t rdl_ceil_div(int64_t a, int64_t b)
{
    return rdl_div(a, b) + (rdl_rem(a, b) != 0);
}

"
"gcd" calls []: r"/* The greatest common divisor. */
static int64_t rdl_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a < 0 ? -a : a;
}

"
"digit" calls []: r"/* Digit number position of n written in base. */
static int64_t rdl_digit(int64_t n, int64_t base, int64_t position)
{
    while (position-- > 0 && n > 0)
        n /= base;
    return n % base;
}

"
"digit_sum" calls []: r"/* The sum of the digits of n written in base. */
static int64_t rdl_digit_sum(int64_t n, int64_t base)
{
    int64_t sum = 0;
    for (; n > 0; n /= base)
        sum += n % base;
    return sum;
}

"
"part_size" calls []: r"/* n things in parts, the first ones one larger: how many are in part s. */
static int64_t rdl_part_size(int64_t n, int64_t parts, int64_t s)
{
    return n / parts + (s < n % parts);
}

"
"part_begin" calls []: r"/* How many are in the parts before part s. */
static int64_t rdl_part_begin(int64_t n, int64_t parts, int64_t s)
{
    int64_t larger = n % parts;
    return s * (n / parts) + (s < larger ? s : larger);
}

"
"part_of" calls []: r"/* The part that number x is in. */
static int64_t rdl_part_of(int64_t n, int64_t parts, int64_t x)
{
    int64_t least = n / parts, larger = n % parts, large = larger * (least + 1);
    return x < large ? x / (least + 1) : larger + (x - large) / least;
}

"
"shl" calls ["pow"]: r"/* a << b, also for a negative a. */
static int64_t rdl_shl(int64_t a, int64_t b)
{
    return a * rdl_pow(2, b);
}

"
"shr" calls []: r"/* a >> b, rounding down. */
static int64_t rdl_shr(int64_t a, int64_t b)
{
    while (b-- > 0)
        a = a / 2 - (a % 2 < 0);
    return a;
}

"
"first_rank" calls ["wrap"]: r"/* The first rank of a node; nodes wrap around. */
static int64_t rdl_first_rank(const rdl_nodes *at, int64_t node)
{
    return at->first[rdl_wrap(node, at->count)];
}

"
"node_size" calls ["wrap"]: r"/* The number of ranks on a node; nodes wrap around. */
static int64_t rdl_node_size(const rdl_nodes *at, int64_t node)
{
    node = rdl_wrap(node, at->count);
    return at->first[node + 1] - at->first[node];
}

"
"of" calls []: r"/* Where a rank sits. */
static rdl_place rdl_of(const rdl_nodes *at, int64_t rank)
{
    int64_t node = 0, above = at->count;
    while (above - node > 1) {
        int64_t middle = (node + above) / 2;
        if (at->first[middle] <= rank)
            node = middle;
        else
            above = middle;
    }
    rdl_place place = {rank, node, rank - at->first[node], at->first[node + 1] - at->first[node]};
    return place;
}

"
"regular" calls []: r"/* Whether nodes have equally many ranks; the last may have fewer. */
static int rdl_regular(const rdl_nodes *at)
{
    int64_t size = at->first[1];
    for (int64_t node = 1; node < at->count; node++) {
        int64_t other = at->first[node + 1] - at->first[node];
        if (other > size || (other < size && node + 1 < at->count))
            return 0;
    }
    return 1;
}

"
"product" calls []: r"/* The product of the first n numbers of a list, each with plus added to it. */
static int64_t rdl_product(rdl_list list, int64_t plus, int64_t n)
{
    int64_t product = 1;
    for (int64_t i = 0; i < n && i < list.len; i++)
        product *= list.items[i] + plus;
    return product;
}

"
"fail" calls []: r"/* There is no such number. */
static int64_t rdl_fail(int *ok)
{
    *ok = 0;
    return 0;
}

"
"checked_add" calls ["fail"]: r"static int64_t rdl_checked_add(int *ok, int64_t a, int64_t b)
{
    int fits = b >= 0 ? a <= INT64_MAX - b : a >= INT64_MIN - b;
    return fits ? a + b : rdl_fail(ok);
}

"
"checked_sub" calls ["fail"]: r"static int64_t rdl_checked_sub(int *ok, int64_t a, int64_t b)
{
    int fits = b >= 0 ? a >= INT64_MIN + b : a <= INT64_MAX + b;
    return fits ? a - b : rdl_fail(ok);
}

"
"checked_mul" calls ["fail"]: r"static int64_t rdl_checked_mul(int *ok, int64_t a, int64_t b)
{
    if (a == 0 || b == 0)
        return 0;
    if (a == INT64_MIN || b == INT64_MIN)
        return a == 1 || b == 1 ? INT64_MIN : rdl_fail(ok);
    int64_t most = INT64_MAX / (b < 0 ? -b : b);
    return (a < 0 ? -a : a) <= most ? a * b : rdl_fail(ok);
}

"
"checked_div" calls ["div", "fail"]: r"static int64_t rdl_checked_div(int *ok, int64_t a, int64_t b)
{
    return b == 0 || (b == -1 && a == INT64_MIN) ? rdl_fail(ok) : rdl_div(a, b);
}

"
"checked_rem" calls ["rem", "fail"]: r"static int64_t rdl_checked_rem(int *ok, int64_t a, int64_t b)
{
    return b == 0 ? rdl_fail(ok) : rdl_rem(a, b);
}

"
"checked_pow" calls ["checked_mul", "fail"]: r"static int64_t rdl_checked_pow(int *ok, int64_t base, int64_t exponent)
{
    if (exponent < 0)
        return rdl_fail(ok);
    if (base == 0 || base == 1)
        return exponent == 0 ? 1 : base;
    if (base == -1)
        return exponent % 2 == 0 ? 1 : -1;
    int64_t power = 1;
    while (exponent-- > 0 && *ok)
        power = rdl_checked_mul(ok, power, base);
    return power;
}

"
"checked_ceil_log" calls ["ceil_log", "fail"]: r"static int64_t rdl_checked_ceil_log(int *ok, int64_t base, int64_t n)
{
    return base < 2 ? rdl_fail(ok) : rdl_ceil_log(base, n);
}

"
"checked_floor_log" calls ["floor_log", "fail"]:
r"static int64_t rdl_checked_floor_log(int *ok, int64_t base, int64_t n)
{
    return base < 2 || n < 1 ? rdl_fail(ok) : rdl_floor_log(base, n);
}

"
"checked_ceil_div" calls ["ceil_div", "fail"]: r"static int64_t rdl_checked_ceil_div(int *ok, int64_t a, int64_t b)
{
    return b < 1 ? rdl_fail(ok) : rdl_ceil_div(a, b);
}

"
"checked_gcd" calls ["gcd", "fail"]: r"static int64_t rdl_checked_gcd(int *ok, int64_t a, int64_t b)
{
    return a == INT64_MIN || b == INT64_MIN ? rdl_fail(ok) : rdl_gcd(a, b);
}

"
"checked_digit" calls ["digit", "fail"]:
r"static int64_t rdl_checked_digit(int *ok, int64_t n, int64_t base, int64_t position)
{
    return base < 2 || n < 0 || position < 0 ? rdl_fail(ok) : rdl_digit(n, base, position);
}

"
"checked_digit_sum" calls ["digit_sum", "fail"]:
r"static int64_t rdl_checked_digit_sum(int *ok, int64_t n, int64_t base)
{
    return base < 2 || n < 0 ? rdl_fail(ok) : rdl_digit_sum(n, base);
}

"
"checked_part_size" calls ["part_size", "fail"]:
r"static int64_t rdl_checked_part_size(int *ok, int64_t n, int64_t parts, int64_t s)
{
    return n < 0 || s < 0 || s >= parts ? rdl_fail(ok) : rdl_part_size(n, parts, s);
}

"
"checked_part_begin" calls ["part_begin", "fail"]:
r"static int64_t rdl_checked_part_begin(int *ok, int64_t n, int64_t parts, int64_t s)
{
    return n < 0 || parts < 1 || s < 0 || s > parts ? rdl_fail(ok) : rdl_part_begin(n, parts, s);
}

"
"checked_part_of" calls ["part_of", "fail"]:
r"static int64_t rdl_checked_part_of(int *ok, int64_t n, int64_t parts, int64_t x)
{
    return parts < 1 || x < 0 || x >= n ? rdl_fail(ok) : rdl_part_of(n, parts, x);
}

"
"checked_shl" calls ["checked_mul", "pow", "fail"]: r"static int64_t rdl_checked_shl(int *ok, int64_t a, int64_t b)
{
    return b < 0 || b > 62 ? rdl_fail(ok) : rdl_checked_mul(ok, a, rdl_pow(2, b));
}

"
"checked_shr" calls ["shr", "fail"]: r"static int64_t rdl_checked_shr(int *ok, int64_t a, int64_t b)
{
    return b < 0 || b > 63 ? rdl_fail(ok) : rdl_shr(a, b);
}

"
"checked_product" calls ["checked_add", "checked_mul"]:
r"static int64_t rdl_checked_product(int *ok, rdl_list list, int64_t plus, int64_t n)
{
    int64_t product = 1;
    for (int64_t i = 0; i < n && i < list.len; i++)
        product = rdl_checked_mul(ok, product, rdl_checked_add(ok, list.items[i], plus));
    return product;
}

"
"checked_element" calls ["fail"]: r"static int64_t rdl_checked_element(int *ok, rdl_list list, int64_t i)
{
    return i < 0 || i >= list.len ? rdl_fail(ok) : list.items[i];
}

"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callees_come_along_and_stand_above() {
        let text = text(&BTreeSet::from(["checked_ceil_div"]));
        let at = |name: &str| text.find(&format!(" {name}(")).unwrap_or(usize::MAX);
        assert!(at("rdl_div") < at("rdl_ceil_div") && at("rdl_ceil_div") < at("rdl_checked_ceil_div"));
        assert!(!text.contains("rdl_pow"));
    }
}
