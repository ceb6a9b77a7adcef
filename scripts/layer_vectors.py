"""What scripts/known_layers.py draws and stores: random rows, exact roundings, one line of text for a layer."""

import math
import zlib

import numpy as np

# Of each float type: stored bits of the significand, exponent of the smallest normal value, largest value.
FLOAT_TYPES = {
    "f32": (23, -126, float(np.finfo(np.float32).max)),
    "f16": (10, -14, 65504.0),
    "bf16": (7, -126, float.fromhex("0x1.fep127")),
    "f8e4m3": (3, -6, 448.0),
}
# What a kernel's f32 arithmetic may be off by, relative to the largest value of a row: 4 units in its last place.
KERNEL_ERROR = 2.0**-21


def steps_of(values, dtype):
    """The distance between neighbours of the type, at each value."""
    if dtype == "i8":
        return np.ones_like(values)
    stored_bits, smallest_exponent, _ = FLOAT_TYPES[dtype]
    exponents = np.frexp(values)[1] - 1  # zero has exponent -1, which serves as well
    return np.ldexp(1.0, np.maximum(exponents, smallest_exponent) - stored_bits)


def rounded(values, dtype):
    """To the nearest value of the type, ties to even; i8 and f8e4m3 saturate, no other type may overflow here."""
    values = np.asarray(values, np.float64)
    steps = steps_of(values, dtype)
    nearest = np.rint(values / steps) * steps
    if dtype == "i8":
        return np.clip(nearest, -128, 127)
    largest = FLOAT_TYPES[dtype][2]
    if dtype == "f8e4m3":
        return np.clip(nearest, -largest, largest)
    assert np.all(np.abs(nearest) <= largest)
    return nearest


def row_mean(values):
    """Of each row, from its exact sum: the same on every machine."""
    sums = [math.fsum(row) for row in values.reshape(-1, values.shape[-1])]
    return np.array(sums).reshape(*values.shape[:-1], 1) / values.shape[-1]


def variance(values):
    deviations = values - row_mean(values)
    return row_mean(deviations * deviations)


def mean_square(values):
    return row_mean(values * values)


def sum_over_rows(values):
    return np.array([math.fsum(column) for column in values.reshape(-1, values.shape[-1]).T])


class Roundings:
    """Rounds, and remembers the rows of which a value lies so near the middle between two values of the type that
    a kernel's f32 arithmetic might round it the other way. Those rows are drawn anew, so that a test can ask for
    equal values."""

    def __init__(self, shape):
        self.safe_rows = np.ones(shape[:-1], bool)

    def __call__(self, values, dtype, exact=False):
        """exact: f32 holds the values without rounding, as it does products of half values; a tie is a tie."""
        if not exact:
            steps = steps_of(values, dtype)
            from_middle = np.abs(values / steps - np.floor(values / steps) - 0.5) * steps
            error = KERNEL_ERROR * np.max(np.abs(values), axis=-1, keepdims=True)
            self.safe_rows &= np.all(from_middle > error, axis=-1)
        return rounded(values, dtype)


class Layer:
    """A line of known_layers.txt and its arrays in known_layers.npz: of the name LAYER/OPERAND, with the axes
    groups, rows and hidden where nf_arguments has strides. compute(layer, roundings, **inputs) gives the outputs.

    heads_in_memory: rows of a group in memory, of which the layer normalises the first `rows` in place."""

    def __init__(self, name, problem, epsilon, compute, *, rows=4, groups=1, scale=0.0, in_place=(),
                 heads_in_memory=0, x=None):
        fields = dict(field.split("=") for field in problem.split(","))
        self.name, self.problem, self.compute = name, problem, compute
        self.rows, self.groups, self.in_place, self.x = rows, groups, in_place, x
        self.epsilon, self.scale = float(np.float32(epsilon)), scale
        self.heads_in_memory = heads_in_memory
        self.hidden, self.dtype = int(fields["hidden"]), fields["dtype"]
        self.backward = fields.get("pass") == "backward"
        self.on_deviation = fields.get("epsilon_place") == "on_deviation"
        self.row_types = {"x": self.dtype, "residual": fields.get("residual", "none")}
        if self.backward:
            self.row_types |= {"dy": self.dtype, "dsum": fields.get("sum", "none")}
        self.weight_type = fields.get("weight", self.dtype)
        self.bias_type = fields.get("bias", self.dtype if fields["op"] == "layer_norm" else "none")
        self.random = np.random.RandomState(zlib.crc32(name.encode()))

    def draw_rows(self):
        """Rows of several sizes, with a mean. In the second, epsilon is a tenth of what it is added to."""
        count = self.groups * self.rows
        with_visible_epsilon = 9 * self.epsilon if self.on_deviation else 3 * math.sqrt(self.epsilon)
        sizes = np.array([1.0, with_visible_epsilon, 30.0, 0.25, 4.0])[np.arange(count) % 5, None]
        values = (self.random.standard_normal((count, self.hidden)) + 0.4) * sizes
        return values.reshape(self.groups, self.rows, self.hidden)

    def draw_inputs(self):
        inputs = {name: rounded(self.draw_rows(), dtype)
                  for name, dtype in self.row_types.items() if dtype != "none"}
        if self.x is not None:
            inputs["x"] = rounded(self.x, self.dtype).reshape(inputs["x"].shape)
        return inputs

    def draw_vectors(self):
        vectors = {}
        if self.weight_type != "none":
            vectors["weight"] = rounded(1 + 0.25 * self.random.standard_normal(self.hidden), self.weight_type)
        if self.bias_type != "none" and not self.backward:
            vectors["bias"] = rounded(0.25 * self.random.standard_normal(self.hidden), self.bias_type)
        return vectors

    def arrays(self):
        vectors, inputs = self.draw_vectors(), self.draw_inputs()
        for _ in range(100000):
            roundings = Roundings(inputs["x"].shape)
            outputs = self.compute(self, roundings, **inputs, **vectors)
            if np.all(roundings.safe_rows):
                return self.in_memory(inputs, vectors, outputs)
            again = self.draw_inputs()
            inputs = {name: np.where(roundings.safe_rows[..., None], values, again[name])
                      for name, values in inputs.items()}
        raise AssertionError(f"{self.name}: found no rows that every kernel must round alike")

    def in_memory(self, inputs, vectors, outputs):
        if self.heads_in_memory:
            shape = (self.groups, self.heads_in_memory, self.hidden)
            memory = rounded(self.random.standard_normal(shape), self.dtype)
            first_heads = np.arange(self.heads_in_memory)[:, None] < self.rows
            padding = [(0, 0), (0, self.heads_in_memory - self.rows), (0, 0)]
            inputs = {**inputs, "x": np.where(first_heads, np.pad(inputs["x"], padding), memory)}
            outputs = {**outputs, "y": np.where(first_heads, np.pad(outputs["y"], padding), memory)}
        arrays = {}
        for name, values in {**inputs, **vectors, **outputs}.items():
            as_f32 = np.asarray(values, np.float32)
            arrays[f"{self.name}/{name}"] = as_f32 if np.array_equal(as_f32, values) else values
        return arrays

    def line(self):
        numbers = [self.rows, self.groups, np.float32(self.epsilon), np.float32(self.scale)]
        return "\t".join([self.name, self.problem, *map(str, numbers), ",".join(self.in_place) or "-"])
