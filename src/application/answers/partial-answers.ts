import type { NodeStatus } from '../cluster/cluster-status.js';
import type { NodeTraffic } from '../cluster/cluster-traffic.js';
import { protocol } from './node-shapes.js';
import { anything, fields, flag, list, number, oneOf, optional, text } from './shape.js';

/** What is read of the status of each node of a cluster, whose versions may differ. */
export const nodeStatusAnswer = fields<NodeStatus>({
  state: oneOf('good', 'degraded', 'not-serving'),
  reasons: list(text),
  mode: text,
  inSync: flag,
  lag: number,
  versions: fields({ program: text }),
  families: list(
    fields({
      failed: list(anything),
      degraded: optional(list(anything)),
      sync: fields({ drift: fields({ repaired: number }) }),
    }),
  ),
});

/** What is read of its traffic. */
export const nodeTrafficAnswer = fields<NodeTraffic>({
  tracksServices: optional(flag),
  services: list(
    fields({
      namespace: text,
      name: text,
      port: text,
      protocol,
      open: number,
      newPerSecond: number,
      unanswered: number,
    }),
  ),
});
