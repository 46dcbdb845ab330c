"""The interface of a front end to mxlite.autograd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable

from mxlite import error
from mxlite._lib import last_error

if TYPE_CHECKING:
    from mxlite.autograd._graph import Node


class FrontEnd:
    """A front end, mx.nd or mxlite.torch, to the code that both share.

    Args:
        adopt: Makes an array of a new handle.
        array_class: The class of arrays.
        names: The front end's names for names of the library's.
    """

    #: MXL_DIALECT_*, and the module that contexts of functions are said to be of.
    dialect = 0
    module = "builtins"
    #: Whether keyword arguments of a function's apply count as inputs, for which backward returns gradients.
    counts_keywords = False
    #: Whether functions can be mapped over batches.
    maps = False
    #: PyTorch's front end: by a node's name what it shows as `_saved_NAME`, and where that comes from.
    saved_names: dict[str, dict[str, str]] | None = None
    #: The exception for errors that have no class of their own.
    error: type[Exception] = error.MXNetError

    def __init__(self, adopt: Callable[[int], Any], array_class: type, names: dict[str, str]) -> None:
        self.adopt = adopt
        self.array_class = array_class
        self.names = names

    def last_error(self) -> BaseException:
        """The exception for the library's last failure."""
        return last_error()

    def is_recording(self) -> bool:
        """Whether this thread records."""
        raise NotImplementedError

    def set_recording(self, flag: bool) -> bool:
        """Switches recording for this thread; what it was before."""
        raise NotImplementedError

    def set_training(self, flag: bool) -> bool:
        """Switches training for this thread, where there is such a thing; what it was before."""
        return flag

    def values(self, array: Any) -> Any:
        """A NumPy array with a copy of the elements."""
        raise NotImplementedError

    def array(self, values: Any) -> Any:
        """An array with a copy of the elements of a NumPy array, of its dtype."""
        raise NotImplementedError

    def zeros(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array of zeros."""
        raise NotImplementedError

    def cast(self, array: Any, dtype: Any) -> Any:
        """The array with that dtype: itself where it has it."""
        raise NotImplementedError

    def alias(self, array: Any) -> Any:
        """The same memory in another object; recorded where recording is on."""
        raise NotImplementedError

    def stack(self, arrays: list) -> Any:
        """Arrays of one shape side by side along a new first axis."""
        raise NotImplementedError

    def is_floating(self, array: Any) -> bool:
        """Whether the dtype is a floating one."""
        raise NotImplementedError

    def takes(self, shape: tuple, expected: tuple) -> bool:
        """Whether a function may return a gradient of that shape for an argument of the other."""
        return shape == expected

    def constant(self, name: str) -> Exception:
        """The error of the method of that name, of an array that no gradient flows to."""
        raise NotImplementedError

    def computed(self, name: str) -> Exception:
        """The error of the method of that name, of an array that is no variable."""
        raise NotImplementedError

    def released(self) -> Exception:
        """The error of a function's saved arrays that a backward has released."""
        return self.error("the saved arrays of this function have been released by an earlier backward")

    def edited(self, saved_by: str, array: Any, node: Node | None, output: int, expected: int) -> Exception:
        """The error of an array that was written to after it was saved; `node`: the maker."""
        maker = "" if node is None or node.is_accumulating() else f", which is output {output} of {node.name()},"
        return self.error(
            f"{saved_by}: a saved array of shape {array.shape}{maker} was written to after it was saved for backward: "
            f"it is at version {array._version}, expected version {expected}"
        )
