import { existsSync, statSync } from 'node:fs';
import { posix } from 'node:path';

/**
 * A plugin of markdown-it: links to what the repository has and the site has not lead to the repository. What neither has is left as it is,
 * and so fails the build.
 *
 * @param root the repository's folder
 * @param address where people read it
 * @param pages paths of the site's pages, from the root
 */
export function repositoryLinks(markdown, { root, address, pages }) {
  markdown.core.ruler.push('repository-links', ({ tokens, env }) => {
    const links = tokens.flatMap(({ children }) => children ?? []).filter(({ type }) => type === 'link_open');
    for (const link of links) {
      const href = link.attrGet('href');
      if (/^[a-z]+:|^#|^\//.test(href)) continue;
      const [target] = href.split('#');
      const path = posix.join(posix.dirname(env.relativePath), target);
      if (pages.includes(path) || path.startsWith('..') || !existsSync(`${root}/${path}`)) continue;
      const kind = statSync(`${root}/${path}`).isDirectory() ? 'tree' : 'blob';
      link.attrSet('href', `${address}/${kind}/main/${path}`);
    }
  });
}
