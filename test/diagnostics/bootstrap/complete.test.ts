import { runCommand } from '../../../src/diagnostics/bootstrap/commands.js';
import type { PinoLogger } from '../../../src/adapters/process/pino-logger.js';
import { parseCommand } from '../../support/command-line.js';
import { Served } from '../../support/http/served.js';
import { usePrinted } from '../../support/program/use-printed.js';

const printed = usePrinted();
let served: Served;
beforeAll(async () => {
  const row = {
    namespace: 'shop',
    name: 'cart',
    frontends: [],
    endpointCounts: { used: 0, known: 0 },
    state: 'warning',
    reason: 'its last change is not programmed yet',
  };
  const list = JSON.stringify({ services: [row], unknownNames: [] });
  served = await Served.start({ '/debug/services': (_, response) => void response.end(list) });
});
afterAll(() => served.stop());

async function completed(flags: readonly string[], ...words: readonly string[]): Promise<string> {
  const commandLine = parseCommand(['__complete', ...flags, '--', ...words]);
  expect(await runCommand(commandLine, undefined as unknown as PinoLogger)).toBe(0);
  return printed.stdout;
}

describe('names of Services', () => {
  it('come from the proxy that the written flags name', async () => {
    expect(await completed([], 'explain', '--metrics-bind-address', served.address, 'sh')).toBe(
      'shop/cart\n',
    );
  });

  it('come from the usual one where what is written cannot be understood yet', async () => {
    const flags = ['--metrics-bind-address', served.address];
    expect(await completed(flags, 'diff', '--nonsense', 'sh')).toBe('shop/cart\n');
  });

  it('are none where nobody answers', async () => {
    expect(await completed([], 'explain', '--metrics-bind-address', '127.0.0.1:1', 'sh')).toBe('');
  });
});
