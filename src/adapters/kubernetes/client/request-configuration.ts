import type { Configuration } from '@kubernetes/client-node/dist/gen/configuration.js';
import { ServerConfiguration } from '@kubernetes/client-node/dist/gen/servers.js';

/** The configuration with which client-node builds requests. ApiClient, which sends them, adds the server and the credentials. */
const used: Pick<Configuration, 'baseServer' | 'authMethods'> = {
  baseServer: new ServerConfiguration('http://api-server', {}),
  authMethods: {},
};
export const requestConfiguration = used as Configuration;
