import { respond, TEXT_TYPE, type Handler } from '../../../src/adapters/http/router.js';
import { Served } from '../../support/http/served.js';

let served: Served;

const says =
  (text: string): Handler =>
  ({ path, method, parameters }, response) =>
    respond(response, 200, TEXT_TYPE, `${text} ${method} ${path} ${parameters.get('x') ?? ''}`);

beforeEach(async () => {
  served = await Served.start({
    '/one': says('one'),
    '/folder/': says('folder'),
    '/folder/inner/': says('inner'),
    '/folder/own': says('own'),
    '/broken': () => Promise.reject(new Error('no luck')),
    '/half': (_, response) => {
      response.writeHead(200, { 'Content-Length': 10 });
      response.write('half');
      throw new Error('gone');
    },
  });
});

afterEach(() => served.stop());

describe('route', () => {
  it('matches paths exactly, and folders by the longest', async () => {
    expect(await served.text('/one?x=5', { method: 'POST' })).toBe('one POST /one 5');
    expect(await served.text('/folder/')).toBe('folder GET /folder/ ');
    expect(await served.text('/folder/any/thing')).toBe('folder GET /folder/any/thing ');
    expect(await served.text('/folder/inner/x')).toBe('inner GET /folder/inner/x ');
    expect(await served.text('/folder/own')).toBe('own GET /folder/own ');
  });

  it.each(['/', '/one/', '/ONE', '/folder', '/oneandmore'])('does not know %s', async (path) => {
    const response = await served.get(path);
    expect([response.status, await response.text()]).toEqual([404, '404 page not found\n']);
  });

  it('says so when an answer fails, and cuts one that failed halfway', async () => {
    const response = await served.get('/broken');
    expect([response.status, await response.text()]).toEqual([500, '/broken failed\n']);
    await expect(served.text('/half')).rejects.toThrow();
    expect(served.logger.at('warn')).toHaveLength(2);
    expect(await served.text('/one')).toContain('one');
  });
});
