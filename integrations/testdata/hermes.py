"""Drives the context engine as hermes does: the folder of the plugin is the argument, messages stand on standard input,
and what the engine answered goes to standard output."""
import abc, importlib.util, json, sys, types


class ContextEngine(abc.ABC):
    @property
    @abc.abstractmethod
    def name(self): ...

    @abc.abstractmethod
    def update_from_response(self, usage): ...

    @abc.abstractmethod
    def should_compress(self, prompt_tokens=None): ...

    @abc.abstractmethod
    def compress(self, messages, current_tokens=None, focus_topic=None, force=False, memory_context=""): ...


agent = types.ModuleType("agent")
agent.context_engine = types.ModuleType("agent.context_engine")
agent.context_engine.ContextEngine = ContextEngine
sys.modules.update({"agent": agent, "agent.context_engine": agent.context_engine})

folder = sys.argv[1]
spec = importlib.util.spec_from_file_location("kagewasm_plugin", folder + "/__init__.py", submodule_search_locations=[folder])
plugin = importlib.util.module_from_spec(spec)
sys.modules["kagewasm_plugin"] = plugin
spec.loader.exec_module(plugin)
made = []
plugin.register(types.SimpleNamespace(register_context_engine=made.append))
engine = made[0]
messages = json.load(sys.stdin)

if __name__ == "__main__":
    engine.on_session_start("hermes-1")
    engine.update_model("gpt-5.1", 200_000)
    engine.update_from_response({"prompt_tokens": 160_000, "completion_tokens": 10, "total_tokens": 160_010})
    before = json.dumps(messages)
    once = engine.compress(messages, current_tokens=160_000)
    twice = engine.compress(once + [{"role": "user", "content": "And one more thing."}], focus_topic="names", force=True)
    print(json.dumps({"name": engine.name, "due": engine.should_compress(), "early": engine.should_compress(1000),
                      "untouched": json.dumps(messages) == before, "once": once, "twice": twice, "count": engine.compression_count}))
