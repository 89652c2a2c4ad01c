import { isDeepStrictEqual } from 'node:util';
import { TestbedModel, type Seen } from '../model/testbed-model.js';
import { ProxyProcess } from '../support/program/proxy-process.js';
import { planOf } from '../support/testbed/probe-plan.js';
import { probe } from '../support/testbed/probe.js';
import type { Testbed } from '../support/testbed/testbed.js';
import { configurationOf, manifestOf, simpler, type Story } from './story.js';

/** Longer than the second after which a TCP client sends its first packet again. Milliseconds. */
const QUIET = 1_300;

/** A packet that met something else than the model allows. */
export interface Disagreement {
  /** From 1. */
  readonly step: number;
  readonly packet: string;
  readonly seen: Seen;
  readonly allowed: readonly Seen[];
}

/** Runs a story with a real proxy and real packets; the first step with disagreements ends it. Returns them, and how many packets there were. */
export async function runStory(
  testbed: Testbed,
  story: Story,
): Promise<{ readonly disagreements: readonly Disagreement[]; readonly packets: number }> {
  const { states, configuration } = story;
  let packets = 0;
  let proxy: ProxyProcess | undefined;
  await testbed.flushNode();
  try {
    for (const [index, state] of states.entries()) {
      const objects = manifestOf(state);
      if (proxy) await proxy.change(objects);
      else
        proxy = await ProxyProcess.start({
          host: testbed.node,
          mode: configuration.mode,
          config: configurationOf(story),
          objects,
        });
      const model = new TestbedModel(objects, configuration);
      const found: Disagreement[] = [];
      const seen = await probe(testbed, objects, QUIET);
      for (const family of ['ipv4', 'ipv6'] as const) {
        const targets = new Map(planOf(objects, family).map((target) => [target.label, target]));
        for (const [packet, met] of Object.entries(seen[family])) {
          const [label, client] = packet.split(' from ') as [string, string];
          const allowed = model.expected(targets.get(label)!, client);
          packets++;
          if (!allowed.some((one) => agrees(one, met, label)))
            found.push({ step: index + 1, packet, seen: met, allowed });
        }
      }
      if (found.length > 0) return { disagreements: found, packets };
    }
    return { disagreements: [], packets };
  } finally {
    await proxy?.remove();
  }
}

function agrees(allowed: Seen, met: Seen, label: string): boolean {
  // The proxy removes UDP flows that lead past a Service, so that afterwards nothing of them is to be seen.
  const isRemoved = allowed === 'untouched' && met === 'drop' && label.includes('/udp ');
  return isRemoved || isDeepStrictEqual(allowed, met);
}

/** The simplest story that still ends with a disagreement, as far as it was found in so many runs. */
export async function shrink(testbed: Testbed, story: Story, runs = 40): Promise<Story> {
  let simplest = story;
  let left = runs;
  for (let found = true; found;) {
    found = false;
    for (const candidate of simpler(simplest)) {
      if (left-- <= 0) return simplest;
      const { disagreements } = await runStory(testbed, candidate);
      if (disagreements.length === 0) continue;
      simplest = candidate;
      found = true;
      break;
    }
  }
  return simplest;
}
