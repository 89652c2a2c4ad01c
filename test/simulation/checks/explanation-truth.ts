import type {
  Explanation,
  PortExplanation,
} from '../../../src/diagnostics/application/explain/explanation.js';
import type { Simulation } from '../simulation.js';
import type { Mode } from '../world/settings.js';
import { ask, METRICS } from './ask.js';
import { presentModel } from './health-ports.js';
import { usesCluster, type ExpectedPort } from './expected-ports.js';

/** What `explain` says of a Service that is served, or asked for and not served, although it is not so; undefined if all is true. */
export async function falseExplanation(simulation: Simulation, service: string): Promise<string | undefined> {
  const { world, history, mode } = simulation;
  const { body } = await ask(world, METRICS, `/debug/explain?subject=${encodeURIComponent(service)}`);
  const { known, objects, families } = JSON.parse(body) as Explanation;
  const expected = history.current(service);
  const said = (what: string): string => `explain says of ${service} ${what}`;
  if (known !== expected.length > 0) return said(known ? 'that it is served' : 'that it is not served');
  if (objects.length > 0)
    return said(`that it is misconfigured: ${objects.map(({ reason }) => reason).join('; ')}`);
  // Of what others have, what packets meet is no answer.
  if (presentModel(simulation).conflicts().includes(service)) return undefined;
  for (const { family, pending, ports } of families) {
    if (pending) return said(`that it waits in ${family}`);
    const wanted = expected.filter((port) => port.family === family);
    if (ports.length !== wanted.length) return said(`that it has ${ports.length} ports in ${family}`);
    for (const port of wanted) {
      const explained = ports.find((each) => port.key === keyOf(service, each));
      const wrong = explained ? falseOf(explained, port, mode) : 'nothing';
      if (wrong !== undefined) return said(`${wrong} of ${port.key} in ${family}`);
    }
  }
  return undefined;
}

function falseOf(
  { status, frontends, endpoints }: PortExplanation,
  port: ExpectedPort,
  mode: Mode,
): string | undefined {
  if (status.state !== 'programmed') return `that it is ${status.state}`;
  const places = frontends.map(({ kind, address, port: number }) => `${kind} ${address} ${number}`);
  const askedFor = port.frontends.map(({ kind, address, port: number }) => `${kind} ${address} ${number}`);
  if (!isSame(places, askedFor)) return `that it has the frontends ${places.join(', ')}`;
  const used = endpoints.filter((each) => each.used).map(placeOf);
  // It knows neither policies nor zones (docs/internals/userspace.md).
  if (mode === 'userspace') return undefined;
  const serving = [...(usesCluster(port) ? port.cluster : []), ...(usesLocal(port) ? port.local : [])];
  if (!isSame(used, serving.map(placeOf))) return `that connections lead to ${used.join(', ') || 'nothing'}`;
  return undefined;
}

function usesLocal({ internalPolicyLocal, externalPolicyLocal }: ExpectedPort): boolean {
  return internalPolicyLocal || externalPolicyLocal;
}

function keyOf(service: string, { portName, protocol }: PortExplanation): string {
  return `${service}${portName === '' ? '' : `:${portName}`}/${protocol}`;
}

function placeOf({ address, port }: { readonly address: string; readonly port: number }): string {
  return `${address} ${port}`;
}

function isSame(one: readonly string[], other: readonly string[]): boolean {
  return [...new Set(one)].sort().join() === [...new Set(other)].sort().join();
}
