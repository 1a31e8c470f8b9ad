/** One way in which models promise to act. All patterns are matched against a single sentence. */
interface PromisePattern {
  readonly language: 'en' | 'zh';
  readonly pattern: RegExp;
  /** An example of what it is for. */
  readonly example: string;
}

/** What a tool could do. Saying, explaining, remembering and waiting are no work for a tool. */
const EN_WORK =
  '(?:look(?:ing)?(?: (?:at|into|for|up|through|that|this|it))?|check|search|find|read|open|run|rerun|re-run|execut|fetch|get|pull|list|inspect|examin|review|analy[sz]|investigat|verif|test|try|creat|writ|updat|edit|fix|modif|chang|delet|remov|add|install|build|compil|deploy|query|queri|call|use|start|begin|proceed|go ahead|take a (?:closer |quick )?look|see (?:what|whether|if|how|where|which)|see|double-check|download|upload|scan|explor|grep|compar|count|comput|calculat|measur|debug|reproduc|refactor|implement|apply|restart|browse|load|gather|trace|locat|dig|grab|retriev|generat|consult|figure out|find out|(?:have|take) a look|mov(?:e|ing)|renam|clon|commit|push|send|set up|configur|convert|extract|pars|clean|reset|do (?:that|this|it))';

const EN_SOFT =
  '(?:now|first|just|quickly|also|then|next|immediately|go and|go ahead and|try to|need to|have to|start by|begin by)';

const ZH_WORK =
  '(?:查|看|搜|找|读|打开|运行|执行|检查|检索|获取|拉取|列出|分析|验证|确认|测试|试|创建|新建|编写|写|更新|修改|修复|删除|添加|安装|构建|编译|部署|调用|使用|用|下载|上传|扫描|对比|比较|统计|计算|调试|重现|重构|实现|重启|清理|处理|操作|访问|定位|排查|备份|提交|换)';

/** Tried in order on each of the last sentences; the first match decides. */
const PROMISES: readonly PromisePattern[] = [
  {
    language: 'en',
    pattern: new RegExp(
      `\\b(?:i['’]ll|i will|i['’]m (?:now )?(?:going to|about to)|i am (?:now )?(?:going to|about to))(?: ${EN_SOFT})* ${EN_WORK}`,
      'i',
    ),
    example: "I'll check the logs",
  },
  {
    language: 'en',
    pattern: new RegExp(`\\b(?:let me|let['’]s|allow me to)(?: ${EN_SOFT})* ${EN_WORK}`, 'i'),
    example: 'Let me look at the file',
  },
  {
    language: 'en',
    pattern:
      /^(?:\W|ok(?:ay)?|alright|all right|sure|great|understood|got it|now|,|\s)*(?:check|read|search|look|runn|execut|fetch|proceed|open|install|creat|updat|writ|query|analy[sz]|download|start|begin|investigat|list)ing\b(?!.*\b(?:is|are|was|were|will|can|may|should|would|takes|requires|helps)\b).*$/i,
    example: 'Reading the file now...',
  },
  {
    language: 'en',
    pattern: /\b(?:one|give me a|just a) (?:moment|second|sec|minute)\b.*\b(?:while i|i['’]ll|let me)\b/i,
    example: 'Give me a moment while I fetch it',
  },
  {
    language: 'zh',
    pattern: new RegExp(
      `(?:让我|我来|我去|我这就|我马上|我立刻|我立即|我现在|现在我|我先|我再|我将|我会|我打算|我准备|我需要|接下来我|下面我|那我|我要)[^，。；！？,;!?]{0,12}?${ZH_WORK}`,
    ),
    example: '我去查一下',
  },
  {
    language: 'zh',
    pattern: new RegExp(
      `^(?:好的?|收到|明白了?|稍等|请稍[候等]|[，,、\\s])*正在(?:为您|为你|帮您|帮你)?[^，。；！？]{0,6}?${ZH_WORK}`,
    ),
    example: '正在为您查询',
  },
];

/** Sentences that speak of acting without promising it: asked for, conditional, done, told of others, or mere words. */
const NO_PROMISE: readonly RegExp[] = [
  /[?？]\s*$/,
  /\b(?:if|once|when(?:ever)?|unless|until|after|as soon as|in case)\b[^.]*\b(?:you|it|they|the|that|this)\b.*\bi['’]?(?:ll| will| can)\b/i,
  /\bi['’]?(?:ll| will)\b.*\b(?:if|once|when|unless|until|as soon as) (?:you|it|they|the|that|this)\b/i,
  /\b(?:would|could|should|may|might|can) (?:i|you|we)\b/i,
  /\b(?:let me know|let me explain|let me summari[sz]e|let me clarify|let me be)\b/i,
  /\bi['’]?(?:ll| will) (?:be|wait|keep|remember|try to (?:keep|remember)|not|never|stop|leave)\b/i,
  /\bso (?:that )?i can\b/i,
  /(?:如果|要是|假如|若|等你|等您|一旦|只要|除非|需要我|要我|是否(?:需要|要|可以|应该)|要不要|可以让我|才能|你可以|您可以|我可以|我建议|建议|你应该|您应该|请你|请您先|请把|请确认|请告诉)/,
  /(?:我已经?|已经|我刚才?|刚才|刚刚|之前我)/,
  /(?:记住|记得|解释|说明|介绍|总结|等待|等候|随时|一直在|陪)/,
  /(?:吗|呢|么)[。？?！!\s]*$/,
];

/** What is quoted or shown as code is not said. */
const QUOTED = /```[\s\S]*?(?:```|$)|"[^"\n]*"|“[^”\n]*”|「[^」\n]*」|『[^』\n]*』/g;

/** How many sentences at the end can still be the promise: what stands further up was followed by an answer. */
const LAST_SENTENCES = 3;

/**
 * Whether a final text that came without a call promises to act ("I'll check the logs", "我去查一下"): the model meant to
 * call a tool and stopped. A table for English and Chinese; anything else gives `false`.
 */
export function looksLikeToolPromise(text: string): boolean {
  const sentences = text
    .replace(QUOTED, ' ')
    .split(/(?<=[.!?。！？…])(?=\s|\P{ASCII}|$)|\n+/u)
    .map((sentence) => sentence.trim())
    .filter((sentence) => /[\p{L}\p{N}]/u.test(sentence))
    .slice(-LAST_SENTENCES);
  const last = sentences.at(-1);
  // A question at the end hands the turn back to the user: the model is waiting, not stuck.
  if (last === undefined || /[?？]\s*$/.test(last)) return false;
  return sentences.some(isPromise);
}

function isPromise(sentence: string): boolean {
  if (NO_PROMISE.some((pattern) => pattern.test(sentence))) return false;
  return PROMISES.some(({ pattern }) => pattern.test(sentence));
}
