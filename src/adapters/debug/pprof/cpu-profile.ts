import type { Profiler } from 'node:inspector';
import { ProfileBuilder, type Frame } from './profile-builder.js';

/** V8's name for the time in which nothing ran. */
const IDLE = '(idle)';
const ROOT = '(root)';

/**
 * V8's CPU profile as pprof has it: for each stack how often it was met, and how long it ran.
 * @param interval between samples, in microseconds
 * @param started milliseconds since the epoch
 */
export function cpuProfile(profile: Profiler.Profile, interval: number, started: number): Uint8Array {
  const builder = new ProfileBuilder([
    { type: 'samples', unit: 'count' },
    { type: 'cpu', unit: 'nanoseconds' },
  ]);
  const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
  const parents = new Map(
    profile.nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])),
  );
  const met = new Map<number, { count: number; microseconds: number }>();
  profile.samples?.forEach((id, index) => {
    const tally = met.get(id) ?? { count: 0, microseconds: 0 };
    tally.count++;
    // The delta before a sample is the time since the one before it.
    tally.microseconds += Math.max(0, profile.timeDeltas?.[index + 1] ?? interval);
    met.set(id, tally);
  });
  for (const [id, { count, microseconds }] of met) {
    const stack: Frame[] = [];
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const frame = nodes.get(at)?.callFrame;
      if (frame && frame.functionName !== ROOT) stack.push(frame);
    }
    if (stack[0] && stack[0].functionName !== IDLE) builder.add(stack, [count, microseconds * 1000]);
  }
  return builder.build(interval * 1000, started, (profile.endTime - profile.startTime) / 1000);
}
