import type { HeapProfiler } from 'node:inspector';
import { ProfileBuilder, type Frame } from './profile-builder.js';

/**
 * Converts V8's sampling heap profile to pprof's format: for each stack, the allocated bytes that are still in use.
 * @param interval between samples, in bytes
 * @param started milliseconds since the epoch
 */
export function heapProfile(
  profile: HeapProfiler.SamplingHeapProfile,
  interval: number,
  started: number,
): Uint8Array {
  const builder = new ProfileBuilder([{ type: 'inuse_space', unit: 'bytes' }]);
  const walk = (node: HeapProfiler.SamplingHeapProfileNode, callers: readonly Frame[]): void => {
    const stack = [node.callFrame, ...callers];
    if (node.selfSize > 0) builder.add(stack, [node.selfSize]);
    for (const child of node.children) walk(child, stack);
  };
  for (const node of profile.head.children) walk(node, []);
  return builder.build(interval, started, Date.now() - started);
}
