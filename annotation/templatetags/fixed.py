"""Parts of a page that are the same for everybody: rendered once in each language."""

from typing import Any

from django import template
from django.template.base import FilterExpression, NodeList, Parser, Token, token_kwargs
from django.template.context import Context
from django.utils.safestring import SafeString
from django.utils.translation import get_language

register = template.Library()
MOST_KEPT = 100


@register.tag
def fixed(parser: Parser, token: Token) -> "FixedNode":
    """Render the part before ``{% endfixed %}`` once for each language and each set of the named values.

    The part has access to these values only, so nothing of one person's page can be shown to another.
    """
    values = token_kwargs(token.split_contents()[1:], parser)
    nodes = parser.parse(("endfixed",))
    parser.delete_first_token()
    return FixedNode(nodes, values)


class FixedNode(template.Node):
    """The template node that `fixed` creates."""

    def __init__(self, nodelist: NodeList, values: dict[str, FilterExpression]) -> None:
        self.nodelist = nodelist
        self._values = values
        # By language and values: what was rendered, with the values, so that none of them gives its id to another.
        self._kept: dict[tuple[Any, ...], tuple[SafeString, dict[str, Any]]] = {}

    def render(self, context: Context) -> SafeString:
        """Return the earlier result for this language and these values, or render it now."""
        values = {name: value.resolve(context) for name, value in self._values.items()}
        given = (value if isinstance(value, str | int | None) else id(value) for value in values.values())
        key = (get_language(), *given)
        kept = self._kept.get(key)
        if kept is None:
            if len(self._kept) >= MOST_KEPT:
                self._kept.clear()
            kept = self._kept[key] = (self.nodelist.render(context.new(values)), values)
        return kept[0]
