# Makes compare/tests/data/stats.json: 24 pairs of samples and what scipy and numpy say of them.
import json, math, numpy as np
from scipy import stats
rng = np.random.default_rng(20240117)
def med_ci(x, conf=0.95):
    """Order-statistic interval: buckets of binomial(n, 1/2) added outward from the middle, left
    first when equal; n > 30: normal approximation with continuity correction."""
    x = np.sort(x); n = len(x)
    if n <= 30:
        pmf = stats.binom.pmf(np.arange(n + 1), n, 0.5)
        pmf = (pmf + pmf[::-1]) / 2           # exact symmetry, so that ties are seen as ties
        at = lambda k: pmf[k] if 0 <= k <= n else 0.0
        m = math.ceil((n + 1) * 0.5) - 1
        l, r, s = m, m + 1, at(m)
        while s < conf and (at(l - 1) > 0 or at(r) > 0):
            if at(l - 1) >= at(r): l -= 1; s += at(l)
            else: s += at(r); r += 1
        conf_got = stats.binom.cdf(r - 1, n, .5) - (stats.binom.cdf(l - 1, n, .5) if l > 0 else 0)
    else:
        mu, sd = n / 2, math.sqrt(n) / 2
        l1 = stats.norm.ppf((1 - conf) / 2, mu, sd); r1 = 2 * mu - l1
        l = math.floor(math.floor(l1 - .5) + .5) + 1; r = math.floor(math.ceil(r1 - .5) + .5) + 1
        mass = lambda a, b: stats.norm.cdf(b - .5, mu, sd) - stats.norm.cdf(a - .5, mu, sd)
        conf_got = mass(l, r)
        if conf <= mass(l, r - 1) < conf_got: r -= 1; conf_got = mass(l, r)
    lo = None if l < 1 else float(x[l - 1]); hi = None if r > n else float(x[r - 1])
    return lo, hi, float(conf_got)
def p_value(a, b):
    ties = len(set(a) | set(b)) < len(a) + len(b)
    lim = 25 if ties else 50
    if max(len(a), len(b)) > lim:
        return float(stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True).pvalue), "asymptotic"
    if not ties:
        return float(stats.mannwhitneyu(a, b, method="exact").pvalue), "exact"
    if math.comb(len(a) + len(b), len(a)) > 400_000: return None, "skip"
    r = stats.permutation_test((a, b), lambda x, y: stats.mannwhitneyu(x, y, method="asymptotic").statistic,
                               permutation_type="independent", n_resamples=np.inf, vectorized=False)
    # two-sided as twice the smaller tail, at most one
    return float(min(1.0, r.pvalue)), "permutation"
cases = []
def add(name, a, b):
    a = [round(float(v), 3) for v in a]; b = [round(float(v), 3) for v in b]
    p, how = p_value(a, b); assert p is not None, name
    la = med_ci(a); lb = med_ci(b)
    g = float(stats.gmean([np.median(a), np.median(b)]))
    cases.append(dict(name=name, a=a, b=b, median_a=float(np.median(a)), median_b=float(np.median(b)),
        interval_a=la, interval_b=lb, p=p, method=how, geomean_of_medians=g))
for n in (3, 4, 5, 6, 7, 10, 20, 30):
    add(f"normal n={n} same", rng.normal(500, 20, n), rng.normal(500, 20, n))
for n in (4, 6, 10, 20):
    add(f"normal n={n} ten percent", rng.normal(500, 10, n), rng.normal(450, 10, n))
add("unequal sizes", rng.normal(500, 20, 5), rng.normal(480, 20, 9))
add("unequal sizes, second smaller", rng.normal(500, 20, 12), rng.normal(480, 20, 4))
add("lognormal n=15", rng.lognormal(6, .3, 15), rng.lognormal(6.1, .3, 15))
add("separated n=4", [1, 2, 3, 5], [11, 12, 13, 15])
add("interleaved n=4", [1, 2, 3, 5], [0, 4, 6, 7])
add("normal n=40", rng.normal(500, 20, 40), rng.normal(508, 20, 40))
add("normal n=50 and 45", rng.normal(500, 20, 50), rng.normal(495, 20, 45))
add("asymptotic n=60", rng.normal(500, 20, 60), rng.normal(509, 20, 60))
add("asymptotic with ties n=40", rng.integers(10, 20, 40), rng.integers(11, 21, 40))
add("asymptotic n=100 and 31", rng.normal(500, 20, 100), rng.normal(500, 20, 31))
add("ties n=4", [2, 1, 3, 5], [2, 2, 2, 2])
add("ties on one side only", [1, 2, 3, 5], [1, 1, 1, 1, 1])
add("ties n=5", [10, 10, 11, 12, 12], [11, 12, 12, 13, 14])
add("ties n=6", [100, 101, 101, 102, 103, 103], [103, 104, 104, 105, 105, 106])
add("ties n=7 and 6", [5, 5, 6, 7, 7, 8, 9], [7, 7, 8, 8, 9, 9])
add("ties n=8", rng.integers(10, 16, 8), rng.integers(12, 18, 8))
add("mostly ties", [1, 1, 1, 1, 1, 2], [1, 1, 1, 1, 2, 2])
ps = [c["p"] for c in cases]
# Holm's correction, written from its definition
order = np.argsort(ps); run = 0; holm = [0.0] * len(ps)
for i, k in enumerate(order): run = max(run, min(1.0, ps[k] * (len(ps) - i))); holm[k] = float(run)
import scipy
json.dump(dict(made_with=f"scipy {scipy.__version__}, numpy {np.__version__}", cases=cases, holm=holm), open("stats.json", "w"), indent=1)
print(len(cases)); [print(c["name"], c["p"], c["method"], c["interval_a"]) for c in cases]
