import { subcommands } from '../../../../../src/diagnostics/adapters/cli/subcommands.js';
import { candidates } from '../../../../../src/diagnostics/adapters/cli/commands/completion.js';

const found = (...written: readonly string[]) => candidates(written, subcommands, ['--proxy-mode', '--page']);

it.each([
  [['st'], ['status']],
  [
    ['services', '--pr'],
    ['--problems', '--proxy-mode'],
  ],
  [['services', '-o', 'j'], ['json']],
  [
    ['status', '--color', 'a'],
    ['auto', 'always'],
  ],
  [['trace', '--colo'], ['--color']],
  [['status', '--wa'], ['--watch']],
  [['diff', '--wa'], ['--watch']],
  [['history', '-o', 'n'], ['name']],
  [['diff', '-o', 'n'], []],
  [['trace', '--names'], ['--namespace']],
  [
    ['top', '--sort', ''],
    ['open', 'new', 'unanswered', 'bytes'],
  ],
  [['completion', 'z'], ['zsh']],
  [['--proxy-m'], ['--proxy-mode']],
  [['services', '-n', 'sh'], []],
  [['trace', '--from', ''], []],
])('%j may end with %j', (written, words) => {
  expect(found(...written)).toEqual({ words, takesServices: false });
});

it('hides what is for scripts', () => {
  expect(found('').words).toContain('explain');
  expect(found('').words).not.toContain('__complete');
});

it.each(['explain', 'services', 'diff', 'history', 'top'])('%s takes names of Services', (name) => {
  expect(found(name, 'sh')).toEqual({ words: [], takesServices: true });
  expect(found(name, 'shop/web', '')).toEqual({ words: [], takesServices: true });
  expect(found(name, '--problems', 'sh').takesServices).toBe(true);
});

it('the destination of a trace may be a Service', () => {
  expect(found('trace', '--to', 'sh')).toEqual({ words: [], takesServices: true });
});
