import { trace } from '../../../../../src/diagnostics/adapters/cli/commands/trace.js';
import { parseCommand } from '../../../../support/command-line.js';
import { Served } from '../../../../support/http/served.js';
import { usePrinted } from '../../../../support/program/use-printed.js';
import { wholeAnswers } from './whole-answers.js';

const printed = usePrinted();
const [, , , answer] = wholeAnswers.find(([name]) => name === 'trace')!;

/** Ends of the queries that the proxy got. */
let queried: (readonly (string | null)[])[];
let served: Served;

async function traced(reply: object, ...ends: readonly string[]): Promise<number> {
  queried = [];
  served = await Served.start({
    '/debug/trace': ({ parameters }, response) => {
      queried.push([parameters.get('from'), parameters.get('to'), parameters.get('kernel')]);
      response.end(JSON.stringify(reply));
    },
  });
  const flags = ['--metrics-bind-address', served.address, '--kubeconfig', '/nonexistent'];
  return trace(
    parseCommand<'trace'>(['trace', ...ends, ...flags], { readFile: () => '', hostname: () => 'node1' }),
  );
}

afterEach(() => served.stop());

it.each([
  [
    ['--from', 'pod/web-1', '--to', '10.96.0.1:80', '-n', 'shop'],
    ['pod/shop/web-1', '10.96.0.1:80/TCP', null],
  ],
  [
    ['--from', 'shop/web-1', '--to', 'cart:dns/udp', '--kernel'],
    ['pod/shop/web-1', 'cart:dns/UDP', 'true'],
  ],
  [
    ['--from', 'outside', '--to', 'pod/shop/web-1:8080'],
    ['outside', 'pod/shop/web-1:8080/TCP', null],
  ],
])('the proxy looks up the pod of %j, without the API server', async (ends, expected) => {
  expect(await traced(answer, ...ends)).toBe(0);
  expect(queried).toEqual([expected]);
  expect(printed.stdout).toContain('outcome: forward');
});

it('the API server looks up a pod that is no endpoint', async () => {
  const unknown = { error: 'no endpoint of a Service is the pod shop/client', cause: 'UnknownPod' };
  await expect(traced(unknown, '--from', 'shop/client', '--to', 'shop/web')).rejects.toMatchObject({
    name: 'QueryError',
    message: expect.stringContaining('/nonexistent') as string,
  });
});

it('another problem is reported as it is', async () => {
  await expect(
    traced({ error: 'no such Service' }, '--from', 'shop/web-1', '--to', 'shop/web'),
  ).rejects.toThrow(/^no such Service$/);
});
