/** How a language says that a request does not fit. Sentences of no known vendor are read by their words. */
interface Wording {
  /** The window, by its names. */
  readonly context: RegExp;
  /** What a request is made of. */
  readonly input: RegExp;
  /** More than allowed. */
  readonly over: RegExp;
  /** Too long, said of the input itself. */
  readonly tooLong: RegExp;
  /** The most that is allowed, or the model that allows it. */
  readonly limit: RegExp;
}

const LATIN_TOKENS = /tokens?|jetons/i;

const WORDINGS: readonly Wording[] = [
  {
    context: /context|n_ctx|(?:max|maximum)[ _](?:input|prompt|seq|sequence|model|total)[ _]?len(?:gth)?/i,
    input: /prompt|input|sequence|conversation|messages?\b|history|tokens|request\b/i,
    over: /exceed|(?:longer|larger|greater|bigger|more) than|(?:less|fewer) than|at most|>=?|<=/i,
    tooLong:
      /(?:prompt|input|sequence|conversation|messages?|history)(?:[ _][a-z]+){0,3} too (?:long|large|big)\b(?! to\b)/i,
    limit: /max(?:imum)?[ _](?:number of )?(?:input |prompt |total )?(?:tokens|length|len)|token limit/i,
  },
  {
    context: /上下文|语境|視窗|窗口/,
    input: /输入|輸入|提示词|提示詞|prompt|消息|訊息|对话|對話|内容|token|请求|請求/i,
    over: /超出|超过|超過|大于|大於|超长|超長|超限/,
    tooLong: /(?:输入|輸入|提示词|提示詞|prompt|消息|訊息|对话|對話).{0,8}(?:过长|過長|太长|太長|超长|超長)/i,
    limit: /(?:模型|最大|上限).{0,12}(?:限制|上限|长度|長度|最大)/,
  },
  {
    context: /コンテキスト|文脈/,
    input: /入力|プロンプト|メッセージ|会話|トークン|リクエスト/,
    over: /超え|超過|上回|オーバー/,
    tooLong: /(?:入力|プロンプト|メッセージ|会話).{0,8}(?:長すぎ|長過ぎ|大きすぎ)/,
    limit: /最大|上限|制限/,
  },
  {
    context: /컨텍스트|문맥/,
    input: /입력|프롬프트|메시지|대화|토큰|요청/,
    over: /초과|넘[는었습]|넘어/,
    tooLong: /(?:입력|프롬프트|메시지|대화).{0,8}너무 (?:길|깁|긴|큽|크)/,
    limit: /최대|한도|제한/,
  },
  {
    context: /контекст/i,
    input: /запрос|ввод|входн|промпт|сообщени|диалог|токен/i,
    over: /превы[шс]|перевищ|больше (?:допустим|максим)/i,
    tooLong:
      /(?:контекст|запрос|ввод|промпт|сообщени|диалог|запит)\S* (?:\S+ )?(?:слишком|занадто|надто) (?:длинн|велик|больш|довг)/i,
    limit: /максим|лимит|допустим/i,
  },
  {
    context: /kontext|contextlengte|contextvenster/i,
    input: /eingabe|anfrage|nachricht|prompt|invoer|verzoek|bericht|tokens?/i,
    over: /überschr|überst|übertr|overschr/i,
    tooLong:
      /(?:eingabe|anfrage|nachricht|prompt|invoer|verzoek|bericht)\S* (?:\S+ )?(?:zu lang|zu groß|te lang|te groot)/i,
    limit: /maxim|höchst|grenze|limiet/i,
  },
  {
    context: /contexte?o?\b|contesto/i,
    input:
      /entrada|entrée|requête|mensaje|mensagem|message|conversa|prompt|input|petición|solicitud|richiesta|messaggio|tokens?|jetons?/i,
    over: /exced|super[aóo]|sobrepas|ultrapass|dépass|excèd|eccede/i,
    tooLong:
      /(?:entrada|entrée|requête|mensaje|mensagem|message|conversa|prompt|input|petición|solicitud|richiesta|messaggio)\S* (?:\S+ ){0,2}(?:trop long|demasiado larg|muito long|longo demais|troppo lung)/i,
    limit: /máxim|maxim|massim|límite|limite/i,
  },
  {
    context: /kontekst/i,
    input: /zapytani|wiadomoś|prompt|wejści|token/i,
    over: /przekr/i,
    tooLong: /(?:zapytani|wiadomoś|prompt|wejści)\S* (?:\S+ )?(?:zbyt|za) dług/i,
    limit: /maksym|limit/i,
  },
  {
    context: /bağlam/i,
    input: /istek|girdi|istem|mesaj|token/i,
    over: /aş[ıtm]|geç[it]/i,
    tooLong: /(?:istek|girdi|istem|mesaj)\S* (?:\S+ )?çok uzun/i,
    limit: /maksimum|sınır/i,
  },
  {
    context: /ngữ cảnh/i,
    input: /yêu cầu|đầu vào|tin nhắn|prompt|token/i,
    over: /vượt/i,
    tooLong: /(?:yêu cầu|đầu vào|tin nhắn|prompt).{0,8}quá dài/i,
    limit: /tối đa|giới hạn/i,
  },
  {
    context: /سياق/,
    input: /طلب|إدخال|رسالة|رسائل|محادثة|رمز|رموز/,
    over: /تجاوز|يتجاوز|يتخطى/,
    tooLong: /(?:طلب|إدخال|رسالة|محادثة).{0,12}طويل/,
    limit: /الأقصى|حد/,
  },
  {
    context: /संदर्भ/,
    input: /इनपुट|अनुरोध|संदेश|टोकन/,
    over: /अधिक|पार/,
    tooLong: /(?:इनपुट|अनुरोध|संदेश).{0,12}(?:बहुत|अत्यधिक) (?:लंबा|बड़ा)/,
    limit: /अधिकतम|सीमा/,
  },
];

/** Output limits, rates, quotas, bytes and fields are too large in the same words. */
const OF_SOMETHING_ELSE =
  /max_(?:completion_|new_|output_)?tokens|output|completion|\brate\b|quota|credit|\bper[ -](?:min|sec|hour|day)|\btp[md]\b|\bbytes?\b|[kmg]i?b\b|characters?\b(?! is)|\b(?:name|id|field|key|title|description|header|url|metadata|parameter|tools?|array|enum)\b|每(?:分|秒|天|日)|速率|频率|頻率|并发|输出|輸出|余额|配额|レート|毎分|分あたり|出力|속도|분당|출력|минут|квот|баланс|вывод|ausgabe|minute|guthaben|sortie|minuto|salida|saída|uscita|dakika|phút/i;

/** Whether a sentence that no vendor is known for says, in any of these languages, that the input exceeds the window. */
export function tellsOfOverflow(message: string): boolean {
  if (OF_SOMETHING_ELSE.test(message)) return false;
  return WORDINGS.some(({ context, input, over, tooLong, limit }, index) => {
    if (tooLong.test(message)) return true;
    if (!over.test(message)) return false;
    // In English all of it must be said: its words are in every message.
    if (index === 0) return input.test(message) && context.test(message);
    return context.test(message) || (input.test(message) && limit.test(message) && countsTokens(message));
  });
}

function countsTokens(message: string): boolean {
  return LATIN_TOKENS.test(message) || /トークン|토큰|токен|词元|टोकन|رموز|模型|モデル|모델|модел/i.test(message);
}
