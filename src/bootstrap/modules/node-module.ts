import { AwaitNode, CLUSTER_TIMEOUTS, NO_WAIT } from '../../application/node/await-node.js';
import { CheckNode } from '../../application/node/check-node.js';
import { NodeContexts } from '../../application/node/node-contexts.js';
import { checkedSettings, nodeSettings } from '../node/node-settings.js';
import type { ReadingModule } from '../parts/reading-parts.js';

/** What this node's Node object says, and how long it is waited for. */
export const nodeModule = {
  checkNode: ({ commandLine, families, state, logger }) =>
    new CheckNode(
      checkedSettings(commandLine),
      families,
      () => state.node,
      logger.child({ caller: 'check-node' }),
    ),
  nodeTimeouts: ({ commandLine }) => (commandLine.manifests.length > 0 ? NO_WAIT : CLUSTER_TIMEOUTS),
  awaitNode: ({ commandLine, nodeTimeouts, state, checkNode, clock, logger }) =>
    new AwaitNode(
      commandLine.nodeName,
      commandLine.configuration.detectLocalMode === 'NodeCIDR',
      nodeTimeouts,
      () => state.node,
      checkNode,
      clock,
      logger.child({ caller: 'await-node' }),
    ),
  contexts: ({ commandLine, state, localAddresses, logger }) =>
    new NodeContexts(
      nodeSettings(commandLine),
      state,
      localAddresses,
      logger.child({ caller: 'node-contexts' }),
    ),
} satisfies ReadingModule;
