import {
  frontendComment,
  parseVerdict,
  safeComment,
  safeInterface,
  safeName,
} from '../../../src/domain/nftables/safe-text.js';

const NAMES = 'letters, digits, "_", ".", "/" and "-" after a letter, at most 255';
const INTERFACES = '1 to 15 visible ASCII characters other than quote, backslash, "*" and "/"';
const COMMENTS = '1 to 128 ASCII characters other than quote, backslash and control characters';
const VERDICTS = '"goto CHAIN", "jump CHAIN", "drop", "return" or "accept"';

it.each([
  [safeName, 'name', NAMES, ['a', 'A1_./-', 'x'.repeat(255)], ['', '1a', 'a b', 'x'.repeat(256)]],
  [
    safeInterface,
    'interface name',
    INTERFACES,
    ['eth0', 'a:b@c', 'x'.repeat(15)],
    ['', 'a b', 'a"', 'a\\', 'a*', 'a/', 'é', 'x'.repeat(16)],
  ],
  [
    safeComment,
    'comment',
    COMMENTS,
    ['shop/cart:http', ' !#[]~', 'x'.repeat(128)],
    ['', 'a"', 'a\\', 'a\n', '\u007f', 'x'.repeat(129)],
  ],
] as const)('%p lets only safe texts pass', (check, what, expected, good, bad) => {
  for (const text of good) expect(check(text)).toBe(text);
  for (const text of bad)
    expect(() => check(text)).toThrow(
      `${what} ${JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)} cannot be written to nftables: ${expected}`,
    );
});

it('shows the first 200 characters of what cannot be written', () => {
  expect(() => safeComment('x'.repeat(200))).toThrow(`comment "${'x'.repeat(200)}" cannot`);
  expect(() => safeComment('x'.repeat(201))).toThrow(`comment "${'x'.repeat(200)}…" cannot`);
});

it('reads verdicts of maps', () => {
  expect(parseVerdict('goto a')).toEqual({ code: 'goto', chain: 'a' });
  expect(parseVerdict('jump a/b')).toEqual({ code: 'jump', chain: 'a/b' });
  for (const code of ['drop', 'return', 'accept']) expect(parseVerdict(code)).toEqual({ code });
  expect(() => parseVerdict('goto 1')).toThrow(`name "1" cannot be written to nftables: ${NAMES}`);
  expect(() => parseVerdict('queue')).toThrow(`verdict "queue" cannot be written to nftables: ${VERDICTS}`);
});

it('cuts the comment of a frontend where nft does', () => {
  const name = { namespace: 'shop', name: 'x'.repeat(63), port: 'y'.repeat(63), protocol: 'TCP' } as const;
  expect(frontendComment(name)).toBe(`shop/${'x'.repeat(63)}:${'y'.repeat(59)}`);
  expect(frontendComment({ ...name, name: 'cart', port: '' })).toBe('shop/cart');
});
