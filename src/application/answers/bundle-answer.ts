import type { BundlePart, NodeBundle } from '../cluster/node-bundle.js';
import { anything, fields, text, time } from './shape.js';

/** What `kubeproxy dump` prints. Its parts are kept as they are. */
export const bundleAnswer = fields<NodeBundle>({
  node: text,
  version: text,
  collectedAt: time,
  parts: fields<Record<BundlePart, unknown>>({
    status: anything,
    services: anything,
    diff: anything,
    history: anything,
    configz: anything,
    metrics: anything,
  }),
});
