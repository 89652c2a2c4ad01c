import ts from 'typescript';
import { EQUIVALENT } from './equivalent.mjs';

const { SyntaxKind: Kind } = ts;

const OPERATORS = new Map([
  [Kind.EqualsEqualsEqualsToken, '!=='],
  [Kind.ExclamationEqualsEqualsToken, '==='],
  [Kind.LessThanToken, '<='],
  [Kind.LessThanEqualsToken, '<'],
  [Kind.GreaterThanToken, '>='],
  [Kind.GreaterThanEqualsToken, '>'],
  [Kind.PlusToken, '-'],
  [Kind.MinusToken, '+'],
  [Kind.AsteriskToken, '/'],
  [Kind.SlashToken, '*'],
  [Kind.AmpersandAmpersandToken, '||'],
  [Kind.BarBarToken, '&&'],
]);

/**
 * Every fault that can be planted in a file: its node, its place, and `mutate`, which makes the faulty text of the node, given
 * what makes texts of the nodes inside. For a statement, which is left out, that is undefined.
 */
export function faultsIn(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lines = text.split('\n');
  const faults = [];
  const add = (node, mutate) => {
    const { line, character } = source.getLineAndCharacterOfPosition(node.getStart());
    const isEquivalent = EQUIVALENT.some(
      ([file, code, what]) => path.endsWith(file) && lines[line].includes(code) && node.getText() === what,
    );
    if (!isEquivalent)
      faults.push({ path, source, node, place: `${path}:${line + 1}:${character + 1}`, mutate });
  };
  const visit = (node, isForPeople) => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) return;
    if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    if (node.parent?.name === node) return;
    if (!(isForPeople && ts.isStringLiteral(node))) {
      const mutate = mutation(node);
      if (mutate || ts.isExpressionStatement(node)) add(node, mutate);
    }
    ts.forEachChild(node, (child) => visit(child, isForPeople || isMessage(node)));
  };
  visit(source, false);
  return faults;
}

function mutation(node) {
  if (ts.isBinaryExpression(node) && OPERATORS.has(node.operatorToken.kind))
    return (textOf) =>
      `(${textOf(node.left)}) ${OPERATORS.get(node.operatorToken.kind)} (${textOf(node.right)})`;
  if (node.kind === Kind.TrueKeyword) return () => 'false';
  if (node.kind === Kind.FalseKeyword) return () => 'true';
  if (ts.isNumericLiteral(node)) return () => `${node.text} + 1`;
  if (ts.isStringLiteral(node)) return () => (node.text === '' ? "'?'" : "''");
  if (ts.isPrefixUnaryExpression(node) && node.operator === Kind.ExclamationToken)
    return (textOf) => textOf(node.operand);
  if (isCondition(node)) return (textOf) => `!(${textOf(node)})`;
  return undefined;
}

function isCondition(node) {
  const { parent } = node;
  if (parent && ts.isIfStatement(parent)) return parent.expression === node;
  return parent && ts.isConditionalExpression(parent) && parent.condition === node;
}

const MESSAGE_CALLS = /\blogger(\??\.|\[)|^(report|super)$/;

/** Whether the strings inside are words for people: what is logged, thrown, or reported of objects. */
function isMessage(node) {
  if (ts.isThrowStatement(node)) return true;
  if (ts.isNewExpression(node)) return node.expression.getText().endsWith('Error');
  if (ts.isBinaryExpression(node)) return node.left.getText() === 'this.name';
  return ts.isCallExpression(node) && MESSAGE_CALLS.test(node.expression.getText());
}

/** The text of a file with faults in it, each of which stays asleep until `__fault` is true of its number. */
export function plant(source, faults) {
  const byNode = new Map(faults.map((fault) => [fault.node, fault]));
  const sound = (node) => {
    let text = '';
    let end = node.getStart();
    ts.forEachChild(node, (child) => {
      text += source.text.slice(end, child.getStart()) + planted(child);
      end = child.end;
    });
    return text + source.text.slice(end, node.end);
  };
  const planted = (node) => {
    const fault = byNode.get(node);
    if (fault === undefined) return sound(node);
    if (fault.mutate === undefined) return `{ if (!globalThis.__fault?.(${fault.number})) ${sound(node)} }`;
    const textOf = (inner) => (inner === node ? sound(node) : planted(inner));
    return `(globalThis.__fault?.(${fault.number}) ? ${fault.mutate(textOf)} : ${sound(node)})`;
  };
  return planted(source);
}

/** A fault as people read it: where, what stands there, and what stands there instead. */
export function description({ place, node, mutate }) {
  const short = (text) => text.replace(/\s+/g, ' ').slice(0, 100);
  return `${place}: ${short(node.getText())} → ${mutate ? short(mutate((inner) => inner.getText())) : '(nothing)'}`;
}
