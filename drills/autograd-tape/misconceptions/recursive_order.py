def _users_first(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for operand, _, _ in node.ways:
                visit(operand)
            order.append(node)

    visit(root)
    return order[::-1]
