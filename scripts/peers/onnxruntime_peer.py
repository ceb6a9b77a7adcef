"""ONNX Runtime: a graph of norms, each of what the one before it made, so that the cost of a call from Python is
spread over them. Input and output are the cell's own arrays; in between the runtime alternates between two of its
own. SkipLayerNormalization adds a residual, the same one everywhere, and stores the sum."""

import onnx
import onnxruntime

from peers.grid import EPSILON
from peers.operands import address

ELEMENT_TYPES = {"f32": onnx.TensorProto.FLOAT, "f16": onnx.TensorProto.FLOAT16, "bf16": onnx.TensorProto.BFLOAT16}
OPERATORS = {
    ("layer_norm", False): ("LayerNormalization", ""),
    ("layer_norm", True): ("SkipLayerNormalization", "com.microsoft"),
    ("rms_norm", False): ("SimplifiedLayerNormalization", ""),
    ("rms_norm", True): ("SkipSimplifiedLayerNormalization", "com.microsoft"),
}
VALUES_OF_GRAPH = 1 << 20
MOST_NORMS = 256


def norms_of_graph(cell):
    return max(1, min(MOST_NORMS, VALUES_OF_GRAPH // cell.values()))


def make_model(operands, norms):
    cell = operands.cell
    operator, domain = OPERATORS[cell.op, cell.residual]
    vectors = ["weight"] + (["bias"] if "bias" in operands.arrays else [])
    helper, element_type = onnx.helper, ELEMENT_TYPES[cell.dtype]

    def rows_of(name):
        return helper.make_tensor_value_info(name, element_type, [cell.rows, cell.hidden])

    nodes, x = [], "x"
    for norm in range(norms):
        y, stored = ("y", "sum") if norm == norms - 1 else (f"y{norm}", f"sum{norm}")
        inputs = [x, "residual", *vectors] if cell.residual else [x, *vectors]
        outputs = [y, "", "", stored] if cell.residual else [y]
        nodes.append(helper.make_node(operator, inputs, outputs, domain=domain, epsilon=EPSILON))
        x = y
    initializers = [helper.make_tensor(name, element_type, [cell.hidden], operands.arrays[name].tobytes(),
                                       raw=True) for name in vectors]
    inputs, outputs = [rows_of("x")], [rows_of("y")]
    if cell.residual:
        inputs.append(rows_of("residual"))
        outputs.append(rows_of("sum"))
    graph = helper.make_graph(nodes, "norms", inputs, outputs, initializers)
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


class OnnxRuntime:
    version = onnxruntime.__version__

    def contender(self, operands):
        if operands.cell.pass_ == "backward":
            return None  # gradients are in its builds for training alone
        norms = norms_of_graph(operands.cell)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = operands.cell.threads
        options.inter_op_num_threads = 1
        options.log_severity_level = 4
        # Its workers wait actively: not after a call, while others are timed.
        options.add_session_config_entry("session.force_spinning_stop", "1")
        try:
            session = onnxruntime.InferenceSession(make_model(operands, norms).SerializeToString(), options,
                                                   providers=["CPUExecutionProvider"])
        except onnxruntime.capi.onnxruntime_pybind11_state.NotImplemented:
            return None
        return OnnxRuntimeContender(session, operands, norms)


class OnnxRuntimeContender:
    def __init__(self, session, operands, norms):
        cell = operands.cell
        self.session = session
        self.chained = self.calls_of_unit = norms
        self.implementation = OPERATORS[cell.op, cell.residual][0]
        self.binding = session.io_binding()
        place = ("cpu", 0, ELEMENT_TYPES[cell.dtype], [cell.rows, cell.hidden])
        for name in ["x", "residual"][:2 if cell.residual else 1]:
            self.binding.bind_input(name, *place, address(operands.arrays[name]))
        for name in ["y", "sum"][:2 if cell.residual else 1]:
            self.binding.bind_output(name, *place, address(operands.arrays[name]))

    def run(self, units):
        run, binding = self.session.run_with_iobinding, self.binding
        for _ in range(units):
            run(binding)

    def release(self):
        del self.binding, self.session
