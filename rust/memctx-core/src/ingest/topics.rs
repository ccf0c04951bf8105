//! Topics of a text, by keywords.

use std::ops::Range;
use std::sync::LazyLock;

use crate::literals::{Literal, Literals};
use crate::text::{ends_word, has_case_beyond_ascii, trim_js};
use crate::{Error, Result};

/// The topics that are known from the start, each with its keywords.
const BUILT_IN: [(&str, &str); 12] = [
    (
        "programming",
        "code|coding|programming|developer|software|function|variable|typescript|javascript|python|rust|golang|java|\
         react|vue|node|编程|代码|程序|开发|软件|函数|变量",
    ),
    ("api", "api|endpoint|rest|graphql|webhook|接口|请求|响应"),
    ("database", "database|sql|mongodb|postgres|mysql|redis|数据库|查询"),
    ("ai", "ai|machine learning|ml|llm|gpt|claude|model|embedding|人工智能|机器学习|模型|神经网络|深度学习"),
    (
        "finance",
        "money|payment|invoice|budget|expense|revenue|profit|stock|钱|支付|发票|预算|费用|收入|利润|股票|基金|投资|理财",
    ),
    ("project", "project|task|milestone|deadline|sprint|kanban|项目|任务|里程碑|截止|进度"),
    ("schedule", "meeting|calendar|appointment|schedule|reminder|会议|日历|预约|日程|提醒"),
    ("travel", "flight|hotel|trip|travel|vacation|booking|航班|酒店|旅行|旅游|度假|预订"),
    ("health", "health|doctor|medicine|exercise|sleep|diet|健康|医生|药|运动|睡眠|饮食"),
    ("email", "email|mail|inbox|send|reply|forward|邮件|收件箱|发送|回复|转发"),
    ("chat", "message|chat|conversation|discord|slack|telegram|wechat|消息|聊天|对话|微信|飞书"),
    ("settings", "setting|config|preference|theme|dark mode|light mode|设置|配置|偏好|主题|深色|浅色"),
];

/// Return the names of the topics that are known from the start.
pub(crate) fn built_in_topics() -> impl ExactSizeIterator<Item = &'static str> {
    BUILT_IN.iter().map(|&(name, _)| name)
}

/// The topics that are looked for, each with its keywords.
///
/// A keyword with a Chinese character counts wherever it stands. Any other must stand apart: between white space,
/// punctuation or an end of the text, so that `code` is not found in `codes`. Case does not matter.
///
/// ```
/// use memctx_core::ingest::Topics;
///
/// let mut topics = Topics::default();
/// topics.add("deploy", &["kubernetes", "上线"])?;
/// assert_eq!(topics.of("Fix the API, then 上线"), ["api", "deploy"]);
/// # Ok::<(), memctx_core::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Topics {
    names: Vec<String>,
    keywords: Vec<Keyword>,
    /// Finds the keywords; its numbers are places in `keywords`.
    finder: Literals,
}

#[derive(Clone, Debug)]
struct Keyword {
    folded: String,
    /// Place of the topic among the names.
    topic: usize,
    /// Counts within a word as well.
    anywhere: bool,
}

impl Topics {
    /// Add a topic, or keywords to the one that has this name already. On an error nothing is added.
    pub fn add(&mut self, name: &str, keywords: &[&str]) -> Result<()> {
        check(name, keywords)?;
        let mut larger = self.keywords.clone();
        let topic = self.names.iter().position(|known| known == name).unwrap_or(self.names.len());
        larger.extend(keywords.iter().map(|keyword| Keyword::new(keyword, topic)));
        self.finder = finder(&larger);
        self.keywords = larger;
        if topic == self.names.len() {
            self.names.push(name.to_owned());
        }
        Ok(())
    }

    /// Return the names of all topics, in the order they were defined.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Return the topics of a text, in the order they were defined.
    #[must_use]
    pub fn of(&self, text: &str) -> Vec<&str> {
        let mut found = vec![false; self.names.len()];
        if !text.is_ascii() && has_case_beyond_ascii(text) {
            self.mark(&fold(text), &mut found);
        } else {
            self.mark(text, &mut found);
        }
        self.names.iter().zip(found).filter_map(|(name, found)| found.then_some(name.as_str())).collect()
    }

    fn mark(&self, text: &str, found: &mut [bool]) {
        self.finder.for_each(text.as_bytes(), |number, range| {
            let keyword = &self.keywords[number];
            found[keyword.topic] |= keyword.anywhere || stands_apart(text, range);
        });
    }

    fn built_in() -> Self {
        let keywords: Vec<Keyword> = (0..)
            .zip(BUILT_IN)
            .flat_map(|(topic, (_, keywords))| keywords.split('|').map(move |keyword| Keyword::new(keyword, topic)))
            .collect();
        let names = built_in_topics().map(str::to_owned).collect();
        Self { names, finder: finder(&keywords), keywords }
    }
}

impl Default for Topics {
    fn default() -> Self {
        // Choosing what the finder looks for takes a while.
        static BUILT: LazyLock<Topics> = LazyLock::new(Topics::built_in);
        BUILT.clone()
    }
}

impl Keyword {
    fn new(keyword: &str, topic: usize) -> Self {
        let is_han = |c: char| ('\u{4E00}'..='\u{9FFF}').contains(&c);
        Self { folded: fold(keyword), topic, anywhere: keyword.contains(is_han) }
    }
}

fn check(name: &str, keywords: &[&str]) -> Result<()> {
    let expected = "more than white space";
    if trim_js(name).is_empty() {
        return Err(Error::argument("the name of a topic", expected, format!("{name:?}")));
    }
    if keywords.is_empty() {
        return Err(Error::argument("keywords", "one or more", format!("none, for topic {name:?}")));
    }
    match keywords.iter().find(|keyword| trim_js(keyword).is_empty()) {
        Some(blank) => Err(Error::argument("each keyword", expected, format!("{blank:?}, for topic {name:?}"))),
        None => Ok(()),
    }
}

fn finder(keywords: &[Keyword]) -> Literals {
    Literals::new(keywords.iter().map(|keyword| Literal { text: &keyword.folded, any_case: true }))
}

/// Return the text in lower case; letters that have two small forms in the one that their capital leads to.
fn fold(text: &str) -> String {
    text.to_lowercase().replace('ſ', "s").replace('ς', "σ")
}

/// Return whether nothing but white space, punctuation or an end of the text is beside a part of it.
fn stands_apart(text: &str, range: Range<usize>) -> bool {
    let (before, behind) = (&text[..range.start], &text[range.end..]);
    before.chars().next_back().is_none_or(ends_word) && behind.chars().next().is_none_or(ends_word)
}
